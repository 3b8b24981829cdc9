#include "ui/traces/trace_view.hpp"

#include "config/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

constexpr double kSecond = 1e9; ///< in ns

std::int64_t ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * kSecond)); }

} // namespace

void TraceView::set_run(std::int64_t first_ns, std::int64_t last_ns, std::int64_t newest_ns) {
    first_ = first_ns;
    last_ = std::max(first_ns, last_ns);
    newest_ = std::clamp(newest_ns, first_, last_);
    if (mode_ == Mode::last) {
        to_ = std::max(newest_, first_ + ns(seconds_)); // a new run fills the plot from the left
        from_ = to_ - ns(seconds_);
    } else if (mode_ == Mode::whole) {
        from_ = first_;
        to_ = last_ > first_ ? std::max(last_, first_ + ns(kShortest)) : first_ + ns(1); // of a single frame
    }
}

void TraceView::follow() { follow(span_s()); }

void TraceView::follow(double seconds) {
    seconds_ = std::clamp(seconds, kShortest, kLongest);
    mode_ = Mode::last;
    set_run(first_, last_, newest_);
}

/// Sets the ends in ns, limited to a valid length.
void TraceView::limit(double from, double to) {
    const double length = std::clamp(to - from, kShortest * kSecond, kLongest * kSecond);
    const double middle = (from + to) / 2;
    from_ = std::llround(middle - length / 2);
    to_ = std::llround(middle + length / 2);
    mode_ = Mode::held;
}

void TraceView::zoom(double part, double factor) {
    const auto from = static_cast<double>(from_), length = static_cast<double>(to_ - from_);
    const double at = from + part * length;
    const double next = std::clamp(length / factor, kShortest * kSecond, kLongest * kSecond);
    limit(at - part * next, at + (1 - part) * next);
}

void TraceView::pan(double part) {
    const auto length = static_cast<double>(to_ - from_);
    // Keep a part of the run visible.
    const double low = static_cast<double>(first_) - 0.9 * length;
    const double high = std::max(low, static_cast<double>(last_) - 0.1 * length);
    const double from = std::clamp(static_cast<double>(from_) - part * length, low, high);
    limit(from, from + length);
}

ValueSpan automatic_span(std::optional<ValueSpan> extremes) {
    if (!extremes)
        return {};
    constexpr double kMargin = 0.06;
    double low = extremes->low, high = extremes->high;
    if (!(high > low)) { // puts a constant in the middle
        const double half = low == 0 ? 1 : std::abs(low) * 0.1;
        low -= half;
        high += half;
    }
    const double room = (high - low) * kMargin;
    const double step = nice_step(high - low, 16);
    return {std::floor((low - room) / step) * step, std::ceil((high + room) / step) * step};
}

ValueSpan zoomed(const ValueSpan& span, double part, double factor) {
    const double at = span.low + part * (span.high - span.low);
    const double least = std::max({std::abs(span.low), std::abs(span.high), 1e-300}) * 1e-9;
    const double length = std::clamp((span.high - span.low) / factor, least, 1e300);
    return {at - part * length, at + (1 - part) * length};
}

double time_step(double span_s, int parts) {
    constexpr std::array<double, 16> kSteps = {1,   2,   5,   10,   15,   30,   60,    120,
                                               300, 600, 900, 1800, 3600, 7200, 21600, 43200};
    const double raw = span_s / std::max(parts, 1);
    if (raw <= 0.5)
        return nice_step(span_s, std::max(parts, 1));
    for (const double step : kSteps)
        if (raw <= step * (1 + 1e-9)) // tolerates rounding of values converted from ns
            return step;
    constexpr double kDay = 86400;
    return std::ceil(raw / kDay) * kDay;
}

std::string axis_text(double seconds, double step_s, bool timed) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "frame %.*f", decimals_of(step_s), seconds);
    return timed ? time_text(seconds, step_s) : text.data();
}

std::string time_text(double seconds, double step_s) {
    const int decimals = decimals_of(step_s);
    const double unit = std::pow(10, decimals);
    const double size = std::round(std::abs(seconds) * unit) / unit;
    const std::string sign = seconds < 0 && size > 0 ? "−" : "";
    std::array<char, 64> text{};
    const auto minutes = static_cast<long long>(size / 60);
    const double rest = size - static_cast<double>(minutes) * 60;
    const int width = decimals > 0 ? decimals + 3 : 2;
    if (minutes == 0)
        std::snprintf(text.data(), text.size(), "%.*f s", decimals, size);
    else if (minutes < 60)
        std::snprintf(text.data(), text.size(), "%lld:%0*.*f", minutes, width, decimals, rest);
    else
        std::snprintf(text.data(), text.size(), "%lld:%02lld:%0*.*f", minutes / 60, minutes % 60, width,
                      decimals, rest);
    return sign + text.data();
}

} // namespace specklescope
