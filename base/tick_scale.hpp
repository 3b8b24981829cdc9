// Where the ticks of an axis lie, and how they are written.
#pragma once

namespace specklescope {

/// A step of 1, 2 or 5 times a power of ten that divides `span` into about `parts`.
double nice_step(double span, int parts);
/// Digits behind the point that tell multiples of `step` apart.
int decimals_of(double step);

/// How the ticks of a scale from `low` to `high` are written. They share one power of ten, a multiple of
/// three, where plain figures would be long: 0 … 6 "·10⁶".
struct TickScale {
    double step = 1, factor = 1; ///< between ticks; what is written is the value times the factor
    int decimals = 0;
    int exponent = 0; ///< of that power of ten
};
TickScale tick_scale(double low, double high, int parts);

} // namespace specklescope
