// What the tags of a TIFF page say. Used by tiff_file.cpp alone.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <string>

namespace specklescope {

/// Where the samples of a page are.
struct TiffLayout {
    std::uint32_t width = 0, height = 0;
    std::uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG;
    std::uint16_t photometric = PHOTOMETRIC_MINISBLACK, compression = COMPRESSION_NONE;
    bool tiled = false;
    std::uint32_t band_rows = 0;  ///< rows in a strip or tile
    std::uint32_t tile_width = 0; ///< tiles only
    int channels = 1;             ///< given on: 1 or 3

    bool separate() const { return planar == PLANARCONFIG_SEPARATE && samples > 1; }
    bool palette() const { return photometric == PHOTOMETRIC_PALETTE; }
    bool ycbcr() const { return photometric == PHOTOMETRIC_YCBCR; }
    /// Samples of one pixel that lie together in a band.
    std::size_t together() const { return separate() ? 1 : samples; }
    std::size_t bytes_for(std::size_t pixels) const { return (pixels * together() * bits + 7) / 8; }
};

/// Throws RunError in one sentence for every kind that is not read. `where`: "'a.tif', page 3,".
void check_tiff_kind(const TiffLayout& layout, const std::string& where);

} // namespace specklescope
