// Samples of fewer than 8 or 16 bits packed without gaps, as in TIFF files and from cameras.
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

/// Bytes of `count` samples.
std::size_t packed_bytes(Packing packing, int bits, std::size_t count);
/// Unpacks samples `first` to `first + count` of `from` into the low bits of `to`. `from` must contain them.
void unpack_samples(Packing packing, int bits, std::span<const std::byte> from, std::size_t first,
                    std::size_t count, std::uint16_t* to);

} // namespace specklescope
