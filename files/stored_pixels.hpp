// Pixel layouts of cameras and headerless files, and their conversion to frames.
#pragma once

#include "pipeline/image.hpp"

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

struct StoredPixels {
    enum class Layout : std::uint8_t {
        plain,   ///< as in a frame, little-endian
        swapped, ///< big-endian
        packed,  ///< bits without gaps
        bgr,     ///< blue first
        uyvy,    ///< grey is every second byte, starting with the second: colour is ignored
        yuyv     ///< the same, starting with the first
    };
    PixelType type = PixelType::u8; ///< of the frame
    int channels = 1;
    double full_scale = 255;
    Layout layout = Layout::plain;
    int bits = 8; ///< per sample; packed only
    Packing packing = Packing::lsb;

    Shape shape(int width, int height) const { return {width, height, channels, type}; }
    /// Bytes of `count` contiguous pixels.
    std::size_t bytes(std::size_t count) const;
};

/// All supported StoredPixels, in 10, 12 and 14 bits and without Bayer mosaics.
namespace stored {
inline constexpr StoredPixels kGray8{};
inline constexpr StoredPixels kGray16{PixelType::u16, 1, 65535};
inline constexpr StoredPixels kGray14{PixelType::u16, 1, 16383};
inline constexpr StoredPixels kGray12{PixelType::u16, 1, 4095};
inline constexpr StoredPixels kGray10{PixelType::u16, 1, 1023};
inline constexpr StoredPixels kGray16be{PixelType::u16, 1, 65535, StoredPixels::Layout::swapped};
inline constexpr StoredPixels kGray32f{PixelType::f32, 1, 0};
inline constexpr StoredPixels kRgb8{PixelType::u8, 3, 255};
inline constexpr StoredPixels kRgb16{PixelType::u16, 3, 65535};
inline constexpr StoredPixels kRgb32f{PixelType::f32, 3, 0};
inline constexpr StoredPixels kBgr8{PixelType::u8, 3, 255, StoredPixels::Layout::bgr};
inline constexpr StoredPixels kUyvy{PixelType::u8, 1, 255, StoredPixels::Layout::uyvy};
inline constexpr StoredPixels kYuyv{PixelType::u8, 1, 255, StoredPixels::Layout::yuyv};
inline constexpr StoredPixels kMono10p{PixelType::u16, 1, 1023, StoredPixels::Layout::packed, 10};
inline constexpr StoredPixels kMono12p{PixelType::u16, 1, 4095, StoredPixels::Layout::packed, 12};
inline constexpr StoredPixels kMono14p{PixelType::u16, 1, 16383, StoredPixels::Layout::packed, 14};
inline constexpr StoredPixels kMono10Packed{PixelType::u16, 1, 1023, StoredPixels::Layout::packed, 10,
                                            Packing::gige};
inline constexpr StoredPixels kMono12Packed{PixelType::u16, 1, 4095, StoredPixels::Layout::packed, 12,
                                            Packing::gige};
} // namespace stored

/// Bytes of a frame. Rows are `padding` bytes apart; packed rows start within a byte only without padding.
std::size_t stored_bytes(const StoredPixels& pixels, int width, int height, std::size_t padding = 0);
/// Converts `from`, which contains stored_bytes(), to a frame.
void unpack_frame(const StoredPixels& pixels, std::span<const std::byte> from, std::size_t padding,
                  HostView to);

} // namespace specklescope
