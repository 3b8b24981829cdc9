// Samples of TIFF pages that are no pixel type of ours: packed bits, signed and wide integers, other floats.
#pragma once

#include "files/tiff_layout.hpp"
#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// The type that samples of this layout become.
PixelType tiff_pixel_type(const TiffLayout& layout);
/// Whether they lie in the file otherwise than in that type.
bool tiff_converts(const TiffLayout& layout);
/// The largest value that they can have: 4095 of 12 bits, 32767 of 16 signed ones; 0: floats.
double tiff_largest(const TiffLayout& layout);

/// What 32-bit float could not hold.
struct TiffLoss {
    bool rounded = false; ///< finite samples changed
    bool outside = false; ///< finite samples became infinite, or others 0
    /// "has 64-bit float samples that are rounded to the 24 bits of 32-bit float".
    std::vector<std::string> remarks(const TiffLayout& layout) const;
};

/// Turns "white is zero" round: the largest value minus each of `row`, of tiff_pixel_type().
void invert_tiff_row(const TiffLayout& layout, std::byte* row, std::size_t count);

/// Converts `count` samples of one row, as libtiff decodes them, to tiff_pixel_type().
void convert_tiff_row(const TiffLayout& layout, const std::byte* from, std::size_t count, std::byte* to,
                      TiffLoss& loss);

} // namespace specklescope
