// Samples of fewer than 8 or 16 bits that lie together without gaps, as TIFF and cameras pack them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace specklescope {

enum class Packing : std::uint8_t {
    msb, ///< TIFF: the first sample in the highest bits; 1…15 bits
    lsb, ///< GenICam Mono10p, Mono12p, Mono14p: the first sample in the lowest bits; 1…15 bits
    gige ///< GigE Vision Mono10Packed, Mono12Packed: two samples in three bytes; 9…12 bits
};

/// Bytes that `count` samples take.
std::size_t packed_bytes(Packing packing, int bits, std::size_t count);
/// Samples number `first` to `first + count` of `from`, in the low bits of `to`. `from` must hold them.
void unpack_samples(Packing packing, int bits, std::span<const std::byte> from, std::size_t first,
                    std::size_t count, std::uint16_t* to);

} // namespace specklescope
