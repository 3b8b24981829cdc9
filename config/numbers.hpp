// Numbers for people: only significant digits, with multiples of the unit if they help.
#pragma once

#include "base/tick_scale.hpp"
#include "pipeline/image.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

inline constexpr const char* kThousands = "\u202F"; ///< narrow no-break space, from five digits on

/// `digits` significant digits, no trailing exponent between 1e-4 and 1e6: "1234", "0.03091", "1.25·10⁶",
/// "∞", "undefined".
std::string number_text(double value, int digits = 4);
/// Significant digits that resolve a hundredth of the range from `low` to `high`; from `least` to 9.
int digits_telling(double low, double high, int least);
/// Number with its unit; the unit "1" (a pure number) is omitted.
std::string quantity_text(double value, const std::string& unit, int digits = 4);
std::string power_text(int exponent);       ///< "10³"
std::string size_text(std::uint64_t bytes); ///< "12.4 MB"
/// Fraction as a percentage: "12 %", "1.4 %", "0.05 %", "< 0.01 %"; never 0 for a positive value.
std::string share_text(double share);
std::string count_text(std::uint64_t count); ///< "1 234 567"
/// For a line that changes all the time: exact below 10 000, "12.3 k frames" from there on.
std::string brief_count_text(std::uint64_t count, const std::string& what);
std::string clock_text(double seconds); ///< "2:05", "1:02:05"
/// Text for the remaining time of a disk: "disk for 2:05", "disk for 3 days".
std::string room_text(double seconds);
/// A sample of a camera or a file: whole where its type is.
std::string sample_text(double value, PixelType type);

} // namespace specklescope
