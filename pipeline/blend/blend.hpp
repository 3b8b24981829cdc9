// A result over the raw picture that it was made of, as the window shows it and as it is written.
#pragma once

#include "pipeline/mapping.hpp"

namespace specklescope {

struct Blend {
    double opacity = 0.6; ///< 0…1, of the result
    double threshold = 0; ///< 0…1, a part of the range: below it the raw picture alone is seen
    /// The first colour of the map that is seen, 0…256.
    int first_index() const;
};

/// How a picture becomes colours.
struct Coloring {
    ColorMap map = ColorMap::grey;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear; ///< never automatic
};

/// raw·(1 − a) + result·a of their colours (map_colors()), rounded to nearest. a is the opacity; it is 0
/// where the colour's index is below Blend::first_index() and where the result is undefined or has no pixel.
/// A result that is smaller lies in the middle, as one that lacks a border on each side. An infinite pixel
/// has kInfiniteColor. `rgb`: u8, 3 channels, as large as `raw`.
void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result, const Coloring& of_result,
                  const Blend& blend, HostView rgb);

} // namespace specklescope
