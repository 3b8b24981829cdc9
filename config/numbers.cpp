#include "config/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace specklescope {

namespace {

std::string fixed(double value, int decimals) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

/// Narrow no-break spaces between thousands, from five digits before the point on.
std::string grouped(std::string number) {
    const std::size_t first = number.starts_with('-') ? 1 : 0;
    const std::size_t end = std::min(number.find('.'), number.size());
    if (end < first + 5)
        return number;
    for (std::size_t at = end; at > first + 3; at -= 3)
        number.insert(at - 3, kThousands);
    return number;
}

/// Three digits with the prefix of the unit.
std::string prefixed(double value, std::span<const char* const> prefixes) {
    std::size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < prefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    return grouped(fixed(value, prefix == 0 || value >= 99.95 ? 0 : 1)) + " " + prefixes[prefix];
}

} // namespace

std::string power_text(int exponent) {
    static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = exponent < 0 ? "10⁻" : "10";
    for (const char digit : std::to_string(std::abs(exponent)))
        text += kDigits[static_cast<std::size_t>(digit - '0')];
    return text;
}

std::string number_text(double value, int digits) {
    if (std::isnan(value))
        return "undefined";
    if (std::isinf(value))
        return value > 0 ? "∞" : "−∞";
    if (value == 0)
        return "0";
    int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double rounded = value * std::pow(10, digits - 1 - exponent);
    if (std::abs(std::round(rounded)) >= std::pow(10, digits)) // 9.9996 becomes 10.00
        ++exponent;
    if (exponent >= -4 && exponent < 6)
        return grouped(fixed(value, std::max(0, digits - 1 - exponent)));
    return fixed(value / std::pow(10, exponent), std::max(0, digits - 2)) + "·" + power_text(exponent);
}

int digits_telling(double low, double high, int least) {
    const double size = std::max(std::abs(low), std::abs(high)), span = high - low;
    if (!(span > 0) || !std::isfinite(size) || !std::isfinite(span))
        return least;
    constexpr int kMost = 9, kOfSpan = 3;
    const int power = size >= 1e6 || size < 1e-4 ? 1 : 0; // where number_text() writes one digit less
    constexpr double kRounded = 1e-6;                     // 300.01 − 300 is a little less than 0.01
    const double shared = std::floor(std::log10(size)) - std::floor(std::log10(span) + kRounded);
    return std::clamp(static_cast<int>(std::min<double>(shared, kMost)) + kOfSpan + power, least, kMost);
}

std::string quantity_text(double value, const std::string& unit, int digits) {
    const std::string text = number_text(value, digits);
    return unit.empty() || unit == "1" || std::isnan(value) ? text : text + " " + unit;
}

std::string size_text(std::uint64_t bytes) {
    static constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
    return prefixed(static_cast<double>(bytes), kUnits);
}

std::string share_text(double share) {
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.01)
        return "< 0.01 %";
    return fixed(percent, percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2) + " %";
}

std::string count_text(std::uint64_t count) { return grouped(std::to_string(count)); }

std::string brief_count_text(std::uint64_t count, const std::string& what) {
    static constexpr std::array<const char*, 4> kPrefixes = {"", "k", "M", "G"};
    constexpr std::uint64_t kExact = 10000;
    return (count < kExact ? std::to_string(count) + " "
                           : prefixed(static_cast<double>(count), kPrefixes) + " ") +
           what + (count == 1 ? "" : "s");
}

std::string clock_text(double seconds) {
    const auto whole = static_cast<long>(std::max(0.0, seconds));
    std::array<char, 32> text{};
    if (whole >= 3600)
        std::snprintf(text.data(), text.size(), "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        std::snprintf(text.data(), text.size(), "%ld:%02ld", whole / 60, whole % 60);
    return text.data();
}

std::string room_text(double seconds) {
    constexpr double kDay = 86400;
    return "disk for " +
           (seconds < 3 * kDay ? clock_text(seconds) : number_text(std::floor(seconds / kDay), 3) + " days");
}

std::string sample_text(double value, PixelType type) {
    return type == PixelType::f32 ? number_text(value) : grouped(std::to_string(std::lround(value)));
}

} // namespace specklescope
