// Which ticks of an axis are seen.
#pragma once

#include "base/tick_scale.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "ui/canvas/view.hpp"

#include <cstdint>

namespace specklescope {

/// Multiples of scale.step from `first` to `last`; of an axis that is no axis none: `last` below `first`.
struct Ticks {
    TickScale scale;
    std::int64_t first = 0, last = -1;
    double value(std::int64_t i) const { return static_cast<double>(i) * scale.step; }
};

/// About `parts` of them; more where the first and the last would be less than `apart` of the axis from each
/// other: a single number says nothing of a scale. `apart`: 0…0.5.
Ticks ticks_of(double low, double high, int parts, double apart);

// A bar on the picture that is so and so many µm long.

/// At the lower left of `area`, `above` its lower edge, light on dark so that it is seen on any picture.
/// `um`: µm for a pixel of the screen; nothing is drawn where that is 0 or the area too small.
Rect draw_scale_bar(const Rect& area, double um, float above);

} // namespace specklescope
