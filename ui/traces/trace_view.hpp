// Which stretch of time and of values a plot of traces shows. No window: ui/traces/plot.hpp draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Times are TraceMoment::time_ns.
class TraceView {
public:
    enum class Mode : std::uint8_t {
        last,  ///< the last seconds() of the run: follows
        whole, ///< all of it: follows
        held   ///< stays where it is
    };
    static constexpr double kShortest = 1e-6, kLongest = 1e7; ///< s, of what is seen

    Mode mode() const { return mode_; }
    double seconds() const { return seconds_; }
    /// What the run holds; at the beginning of each drawing. Never an empty stretch.
    void set_run(std::int64_t first_ns, std::int64_t last_ns);
    std::int64_t from_ns() const { return from_; }
    std::int64_t to_ns() const { return to_; }
    double span_s() const { return static_cast<double>(to_ - from_) * 1e-9; }

    void follow();               ///< the newest, as many seconds as were seen
    void follow(double seconds); ///< as many as said
    void show_whole() { mode_ = Mode::whole; }
    void hold() { mode_ = Mode::held; }
    /// About `part` of the width, 0…1: that moment stays where it is. Holds.
    void zoom(double part, double factor);
    /// By a part of the width: positive brings earlier moments in. Holds.
    void pan(double part);

private:
    void limit(double from, double to);
    Mode mode_ = Mode::last;
    double seconds_ = 10;
    std::int64_t first_ = 0, last_ = 0;
    std::int64_t from_ = 0, to_ = 10'000'000'000;
};

struct ValueSpan {
    double low = 0, high = 1;
    bool operator==(const ValueSpan&) const = default;
};
/// Around these extremes, with room above and below, to round numbers, so that it does not tremble; of
/// nothing 0…1.
ValueSpan automatic_span(std::optional<ValueSpan> extremes);
/// About `part` of the height, 0 at the bottom.
ValueSpan zoomed(const ValueSpan& span, double part, double factor);

/// A step of 1, 2, 5 … 500 ms, 1, 2, 5, 10, 15, 30 s, 1 … 30 min, 1, 2, 6, 12, 24 h … that divides `span_s`
/// into no more than about `parts`, in s.
double time_step(double span_s, int parts);
/// "12.5 s", "2:05", "1:02:05", with the digits that tell multiples of `step_s` apart.
std::string time_text(double seconds, double step_s);
/// As above; where nobody states times, the number of frames that one second stands for.
std::string axis_text(double seconds, double step_s, bool timed);

} // namespace specklescope
