// Paces a source: frame n is due n/rate after the first one.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

namespace specklescope {

/// One thread only. The rate (frames/s) may change between calls; 0: a frame is always due.
class Pacer {
public:
    /// Restarts the schedule; keeps the settings.
    void restart() {
        Pacer fresh;
        fresh.speed_ = speed_;
        fresh.unpaced_ = unpaced_;
        *this = fresh;
    }

    /// Speed factor for due times; 0: always due. Capture times keep the rate.
    void set_speed(double speed) { speed_ = speed; }
    /// Capture time of the first frame after restart(), in ns.
    void begin_at(std::int64_t ns) { capture_ns_ = static_cast<double>(ns); }
    /// The next frame and `more` frames after it are due immediately; the schedule continues from there.
    void skip_pacing(std::uint64_t more) { unpaced_ = more + 1; }

    /// True when the next frame is due; waits at most `patience`.
    bool wait(double rate, std::chrono::milliseconds patience = std::chrono::milliseconds(50)) {
        if (started_ && !paced(rate))
            return true;
        const auto now = SteadyClock::now();
        const auto rest = until_due(rate, now);
        if (rest <= std::chrono::nanoseconds(0))
            return true;
        std::this_thread::sleep_until(now + std::min<SteadyClock::duration>(rest, patience));
        return rest <= patience;
    }

    /// Time from `now`, which never goes back, until the next frame is due; 0 or less: it is due.
    SteadyClock::duration until_due(double rate, SteadyClock::time_point now) {
        if (!started_) {
            start_ = now;
            started_ = true;
        }
        if (!paced(rate))
            return {};
        rate *= speed_;
        auto due = start_ + std::chrono::nanoseconds(std::llround(elapsed_ns_));
        const auto period = std::chrono::nanoseconds(std::llround(within(1e9 / rate)));
        if (due > now + period) { // the rate was raised
            start_ -= due - (now + period);
            due = now + period;
        }
        if (now > due + kForgiven)
            start_ += now - due; // after a pause the schedule continues without catching up
        if (elapsed_ns_ >= kEnd) {
            start_ = due; // later frames are counted from here
            elapsed_ns_ = 0;
        }
        return due - now;
    }

    /// Capture time in ns of the due frame, on a clock that starts at 0, by the rate. With rate 0 it counts
    /// frames, one per second, since the time is unknown. Moves to the next frame. `pace`: the rate used in
    /// wait().
    std::int64_t take(double rate, double pace) {
        unpaced_ -= unpaced_ > 0 ? 1 : 0;
        const auto capture = static_cast<std::int64_t>(std::llround(capture_ns_));
        capture_ns_ = later(capture_ns_, rate > 0 ? 1e9 / rate : 1e9);
        if (pace > 0)
            elapsed_ns_ = within(elapsed_ns_ + 1e9 / (speed_ > 0 ? pace * speed_ : pace));
        else
            elapsed_ns_ = static_cast<double>(std::chrono::nanoseconds(SteadyClock::now() - start_).count());
        return capture;
    }
    std::int64_t take(double rate) { return take(rate, rate); }

private:
    bool paced(double rate) const { return rate > 0 && speed_ > 0 && unpaced_ == 0; }

    static constexpr double kEnd = 0x1p61; ///< of a schedule: 73 years
    /// Keeps sums of two times within the range of ns.
    static double within(double ns) { return std::min(ns, kEnd); }
    /// After that end a period is at most a second, so that times still increase, for twice as many years.
    static double later(double ns, double period) {
        constexpr double kMost = 0x1p62 - 0x1p10;
        return std::min({ns + period, std::max(kEnd, ns + std::min(period, 1e9)), kMost});
    }
    static constexpr std::chrono::milliseconds kForgiven{500};
    SteadyClock::time_point start_{};
    double elapsed_ns_ = 0; ///< of the schedule, until the next frame is due
    double capture_ns_ = 0; ///< of the next frame
    double speed_ = 1;
    std::uint64_t unpaced_ = 0; ///< number of frames
    bool started_ = false;
};

inline constexpr double kMinSpeed = 1e-6; ///< unless it is 0
inline constexpr double kMaxSpeed = 16;
inline constexpr const char* kSpeedDoc =
    "Speed as a multiple of the rate; capture times stay. 0: as fast as possible";

} // namespace specklescope
