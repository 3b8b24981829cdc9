// Ticks of an axis.
#pragma once

#include "base/tick_scale.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "ui/canvas/view.hpp"

#include <cstdint>

namespace specklescope {

/// Multiples of scale.step from `first` to `last`. An invalid axis has none: `last` is below `first`.
struct Ticks {
    TickScale scale;
    std::int64_t first = 0, last = -1;
    double value(std::int64_t i) const { return static_cast<double>(i) * scale.step; }
};

/// Returns about `parts` ticks; more if the first and the last would be closer than `apart` of the axis,
/// since a single number does not show the scale. `apart`: 0…0.5.
Ticks ticks_of(double low, double high, int parts, double apart);

// Scale bar on the picture, with its length in µm.

/// Draws at the lower left of `area`, `above` its lower edge, light on dark to be visible on any picture.
/// `um`: µm per screen pixel; draws nothing if it is 0 or the area is too small.
Rect draw_scale_bar(const Rect& area, double um, float above);

} // namespace specklescope
