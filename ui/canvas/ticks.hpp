// Which ticks of an axis are seen.
#pragma once

#include "base/tick_scale.hpp"

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

} // namespace specklescope
