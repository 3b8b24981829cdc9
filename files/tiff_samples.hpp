// TIFF samples that are not one of our pixel types: packed bits, signed and wide integers, other floats.
#pragma once

#include "files/tiff_layout.hpp"
#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Pixel type for samples of this layout.
PixelType tiff_pixel_type(const TiffLayout& layout);
/// True if the samples in the file need a conversion.
bool tiff_converts(const TiffLayout& layout);
/// Largest possible value: 4095 for 12 bits, 32767 for 16 signed bits; 0: floats.
double tiff_largest(const TiffLayout& layout);

/// Losses in the conversion to 32-bit float.
struct TiffLoss {
    bool rounded = false; ///< finite samples changed
    bool outside = false; ///< finite samples became infinite or 0
    /// "has 64-bit float samples that are rounded to the 24 bits of 32-bit float".
    std::vector<std::string> remarks(const TiffLayout& layout) const;
};

/// Inverts "white is zero": the largest value minus each of `row`, of tiff_pixel_type().
void invert_tiff_row(const TiffLayout& layout, std::byte* row, std::size_t count);

/// Converts `count` samples of one row, as decoded by libtiff, to tiff_pixel_type().
void convert_tiff_row(const TiffLayout& layout, const std::byte* from, std::size_t count, std::byte* to,
                      TiffLoss& loss);

} // namespace specklescope
