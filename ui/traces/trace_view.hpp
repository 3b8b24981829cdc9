// Visible range of time and values in a plot of traces. Contains no drawing: see ui/traces/plot.hpp.
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
        last,  ///< the last seconds() of the run; follows new values
        whole, ///< the whole run; follows new values
        held   ///< a fixed stretch
    };
    static constexpr double kShortest = 1e-6, kLongest = 1e7; ///< in s, visible length

    Mode mode() const { return mode_; }
    double seconds() const { return seconds_; }
    /// Sets the extent of the run; call before each drawing. The stretch must not be empty.
    /// `newest_ns`: the frame that is followed, which in a film may be anywhere.
    void set_run(std::int64_t first_ns, std::int64_t last_ns, std::int64_t newest_ns);
    void set_run(std::int64_t first_ns, std::int64_t last_ns) { set_run(first_ns, last_ns, last_ns); }
    std::int64_t from_ns() const { return from_; }
    std::int64_t to_ns() const { return to_; }
    double span_s() const { return static_cast<double>(to_ - from_) * 1e-9; }

    void follow();               ///< shows the newest values, with the current length
    void follow(double seconds); ///< shows this many of the newest seconds
    void show_whole() { mode_ = Mode::whole; }
    void hold() { mode_ = Mode::held; }
    /// Zooms about the moment at `part` of the width (0…1), which stays in place. Stops following.
    void zoom(double part, double factor);
    /// Pans by a fraction of the width (positive: earlier) and stops following.
    void pan(double part);

private:
    void limit(double from, double to);
    Mode mode_ = Mode::last;
    double seconds_ = 10;
    std::int64_t first_ = 0, last_ = 0, newest_ = 0;
    std::int64_t from_ = 0, to_ = 10'000'000'000;
};

struct ValueSpan {
    double low = 0, high = 1;
    bool operator==(const ValueSpan&) const = default;
};
/// Span around these extremes with a margin, rounded so that it does not flicker; 0…1 without values.
ValueSpan automatic_span(std::optional<ValueSpan> extremes);
/// Zooms about `part` of the height (0 at the bottom).
ValueSpan zoomed(const ValueSpan& span, double part, double factor);

/// Largest useful step (1, 2, 5 … 500 ms, 1, 2, 5, 10, 15, 30 s, 1 … 30 min, 1, 2, 6, 12, 24 h …) that
/// divides `span_s` into at most about `parts`, in s.
double time_step(double span_s, int parts);
/// "12.5 s", "2:05", "1:02:05", with enough digits to distinguish multiples of `step_s`.
std::string time_text(double seconds, double step_s);
/// The same for an axis. If the frames have no times, the number of frames that one second represents.
std::string axis_text(double seconds, double step_s, bool timed);

} // namespace specklescope
