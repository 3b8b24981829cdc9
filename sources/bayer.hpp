// Bayer mosaics saved as grey: detection, and conversion to colour by binning.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/param.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Colours of the first two pixels of the first two rows, in the order of the option's names.
enum class Bayer : std::uint8_t { none, rggb, grbg, gbrg, bggr };

/// Names of the option `bayer` and its help.
ChoiceNames bayer_names();
extern const char* const kBayerDoc;

/// Shape of the colour image of a mosaic: half its sides, without an odd last row or column. Throws
/// UsageError if the image of `name` is no mosaic: in colour, or with one row or column.
Shape bayer_shape(const Shape& mosaic, const std::string& name);
/// Each 2×2 block becomes a pixel of red, blue and the mean of both greens, integers rounded up. It is at
/// full scale if one of the four samples is.
void bin_bayer(Bayer order, ConstHostView mosaic, HostView color, double full_scale);

/// Examines the first grey frames of a source, and logs once if they look like a mosaic.
class MosaicFinder {
public:
    void look(const std::string& name, ConstHostView frame);

private:
    int frames_ = 0;
};

/// Ratio of the brightest to the darkest of the four sites of a 2×2 mosaic; 1 if the image does not look like
/// one.
double mosaic_ratio(ConstHostView frame);

} // namespace specklescope
