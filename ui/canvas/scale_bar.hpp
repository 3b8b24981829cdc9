// A bar on the picture that is so and so many µm long.
#pragma once

#include "pipeline/scale/pixel_size.hpp"
#include "ui/canvas/view.hpp"

namespace specklescope {

/// At the lower left of `area`, `above` its lower edge, light on dark so that it is seen on any picture.
/// `um`: µm for a pixel of the screen; nothing is drawn where that is 0 or the area too small.
Rect draw_scale_bar(const Rect& area, double um, float above);

} // namespace specklescope
