// Positions and formatting of axis ticks.
#pragma once

namespace specklescope {

/// A step of 1, 2 or 5 times a power of ten that divides `span` into about `parts` parts.
double nice_step(double span, int parts);
/// Number of decimals needed to distinguish multiples of `step`.
int decimals_of(double step);

/// Formatting of the ticks from `low` to `high`. Long numbers share one power of ten, a multiple of three: 0
/// … 6 "·10⁶".
struct TickScale {
    double step = 1, factor = 1; ///< between ticks; the label is the value times the factor
    int decimals = 0;
    int exponent = 0; ///< of that power of ten
};
TickScale tick_scale(double low, double high, int parts);

} // namespace specklescope
