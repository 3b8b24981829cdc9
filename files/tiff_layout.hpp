// Tags of a TIFF page, and conversion of samples that are not one of our pixel types.
#pragma once

#include "pipeline/image.hpp"

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Layout of the samples of a page.
struct TiffLayout {
    std::uint32_t width = 0, height = 0;
    std::uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG;
    std::uint16_t photometric = PHOTOMETRIC_MINISBLACK, compression = COMPRESSION_NONE;
    bool tiled = false;
    std::uint32_t band_rows = 0;  ///< rows in a strip or tile
    std::uint32_t tile_width = 0; ///< tiles only
    int channels = 1;             ///< of the output: 1 or 3
    std::uint16_t orientation = ORIENTATION_TOPLEFT;
    bool indices = false; ///< of a palette that colours the data: indices are returned, not colours

    double offset = 0; ///< added to the samples, which become 32-bit float if it is not 0

    bool separate() const { return planar == PLANARCONFIG_SEPARATE && samples > 1; }
    bool palette() const { return photometric == PHOTOMETRIC_PALETTE; }
    bool ycbcr() const { return photometric == PHOTOMETRIC_YCBCR; }
    /// Contiguous samples of one pixel in a band.
    std::size_t together() const { return separate() ? 1 : samples; }
    std::size_t bytes_for(std::size_t pixels) const { return (pixels * together() * bits + 7) / 8; }
};

/// Colours of a palette page in 8 bits, red, green, blue of each index. Empty without a palette.
std::vector<std::byte> tiff_palette(TIFF* tiff, const TiffLayout& layout);
/// True if a palette is an ordered colour scale, as used by ImageJ and others for grey data, instead of the
/// colours of an image.
bool is_colour_scale(const std::vector<std::byte>& palette);

/// Throws RunError for unsupported pages. `where`: "'a.tif', page 3,".
void check_tiff_kind(const TiffLayout& layout, const std::string& where);

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
