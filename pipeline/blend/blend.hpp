// Overlays a result on the raw image that it was computed from, for the window and for files.
#pragma once

#include "pipeline/mapping.hpp"

namespace specklescope {

struct Blend {
    double opacity = 0.6; ///< 0…1, of the result
    double threshold = 0; ///< 0…1, fraction of the range: only the raw image is visible below it
    /// First visible index of the colour map, 0…256.
    int first_index() const;
};

/// Mapping of an image to colours.
struct Coloring {
    ColorMap map = ColorMap::grey;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear; ///< never automatic
};

/// Blends the colours (map_colors()): raw·(1 − a) + result·a, rounded to nearest. a is the opacity; it is 0
/// where the colour's index is below Blend::first_index() and where the result is undefined or missing. A
/// smaller result is centred: it lacks a border on each side. Infinite pixels get kInfiniteColor. `rgb`: u8,
/// 3 channels, the size of `raw`.
void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result, const Coloring& of_result,
                  const Blend& blend, HostView rgb);

} // namespace specklescope
