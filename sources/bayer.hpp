// Mosaics of colour sensors that were saved as grey: noticed, and made into colour by binning.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Colours of the first two pixels of the first two rows, in the order of the option's names.
enum class Bayer : std::uint8_t { none, rggb, grbg, gbrg, bggr };

/// Names of the option `bayer` and its help.
std::vector<std::string> bayer_names();
extern const char* const kBayerDoc;

/// Shape of the colour picture of a mosaic: half its sides, without an odd last row or column. Throws
/// UsageError where the picture of `name` is no mosaic: in colour, or of one row or column.
Shape bayer_shape(const Shape& mosaic, const std::string& name);
/// Each 2×2 pixels become one of red, blue and the mean of both greens, integers rounded up. It is at full
/// scale where one of them is.
void bin_bayer(Bayer order, ConstHostView mosaic, HostView color, double full_scale);

/// Looks at the first grey frames of a source, and logs once when they look like a mosaic.
class MosaicFinder {
public:
    void look(const std::string& name, ConstHostView frame);
    void clear() { frames_ = 0; }

private:
    int frames_ = 0;
};

/// Ratio of the brightest to the darkest of the four sites of a 2×2 mosaic; 1 where the picture does not look
/// like one.
double mosaic_ratio(ConstHostView frame);

} // namespace specklescope
