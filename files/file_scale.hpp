// Pixel size in TIFF files of any program: in OME-XML, in ImageJ's lines, or by the resolution tags.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

struct FileScale {
    double um_per_px = 0;  ///< side of a pixel in µm; 0: not used
    std::string by{};      ///< origin: "ImageJ's unit micron"; empty: none, or one of our recordings
    std::string refused{}; ///< why the file's value is not used, a sentence; empty: it has none
};

/// The tags XResolution, YResolution and ResolutionUnit.
struct TiffResolution {
    double x = 0, y = 0; ///< pixels per unit; 0: missing
    int unit = 0;        ///< 1: none, 2: inch, 3: cm; 0: missing
};

/// SignificantBits of the first Pixels in OME-XML; 0: not stated.
int ome_significant_bits(std::string_view description);

/// OME-XML in the description has priority over ImageJ's unit, and that over the unit of the resolution.
/// Refused are pixels that are not square, unknown units, and resolutions of screens and printers, which
/// programs write without a measurement. A resolution has seven valid digits.
FileScale tiff_scale(std::string_view description, const TiffResolution& resolution);

} // namespace specklescope
