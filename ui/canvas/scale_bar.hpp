// A bar on the picture that is so and so many µm long.
#pragma once

#include "ui/canvas/view.hpp"

#include <string>

namespace specklescope {

/// A length of 1, 2 or 5 times a power of ten µm, and how it is written: "500 nm", "200 µm", "1 mm", "2 cm".
struct ScaleBar {
    double um = 0;
    double length = 0; ///< on the screen
    std::string text;
};
/// The longest that fits into `room`, where a unit of length on the screen is `um` µm; both above 0.
ScaleBar scale_bar(double um, double room);

/// At the lower left of `area`, `above` its lower edge, light on dark so that it is seen on any picture.
/// `um`: µm for a pixel of the screen; nothing is drawn where that is 0 or the area too small.
void draw_scale_bar(const Rect& area, double um, float above);

} // namespace specklescope
