// Numbers as people read them: as many digits as say something, with the unit's own multiples where that
// helps.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

/// `digits` significant digits, no trailing exponent between 1e-4 and 1e6: "1234", "0.03091", "1.25·10⁶",
/// "∞", "undefined".
std::string number_text(double value, int digits = 4);
/// With its unit; "1" (a pure number) is left out.
std::string quantity_text(double value, const std::string& unit, int digits = 4);
std::string power_text(int exponent);       ///< "10³"
std::string size_text(std::uint64_t bytes); ///< "12.4 MB"
/// A part of the whole: "12 %", "1.4 %", "0.05 %", "< 0.01 %": never 0 where there is something.
std::string share_text(double share);
std::string count_text(std::uint64_t count); ///< "1 234 567"
std::string clock_text(double seconds);      ///< "2:05", "1:02:05"
/// How long a disk lasts: "disk for 2:05", "disk for 3 days".
std::string room_text(double seconds);
/// A step of 1, 2 or 5 times a power of ten that divides `span` into about `parts`.
double nice_step(double span, int parts);
/// Digits behind the point that tell multiples of `step` apart.
int decimals_of(double step);
/// A sample of a camera or a file: whole where its type is.
std::string sample_text(double value, PixelType type);

/// How the ticks of a scale from `low` to `high` are written. They share one power of ten, a multiple of
/// three, where plain figures would be long: 0 … 6 "·10⁶".
struct TickScale {
    double step = 1, factor = 1; ///< between ticks; what is written is the value times the factor
    int decimals = 0;
    int exponent = 0; ///< of that power of ten
};
TickScale tick_scale(double low, double high, int parts);

} // namespace specklescope
