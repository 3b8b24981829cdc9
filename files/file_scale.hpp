// How large a pixel is, as a TIFF of any program says it: in OME-XML, in ImageJ's words, or by its
// resolution.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

struct FileScale {
    double um_per_px = 0;  ///< µm a side of a pixel; 0: none is taken
    std::string by{};      ///< who says it: "ImageJ's unit micron"; empty: none, or a recording of ours
    std::string refused{}; ///< why what the file says is not taken, a sentence; empty: it says nothing
};

/// The tags XResolution, YResolution and ResolutionUnit.
struct TiffResolution {
    double x = 0, y = 0; ///< pixels a unit; 0: not there
    int unit = 0;        ///< 1: none, 2: inch, 3: cm; 0: not there
};

/// SignificantBits of the first Pixels in OME-XML; 0: it states none.
int ome_significant_bits(std::string_view description);

/// OME-XML in the description wins over ImageJ's unit, that over the resolution's own. Not taken are pixels
/// that are no squares, units that are no lengths known here, and resolutions of screens and printers, which
/// programs write without having measured anything. Of a resolution, seven digits count.
FileScale tiff_scale(std::string_view description, const TiffResolution& resolution);

} // namespace specklescope
