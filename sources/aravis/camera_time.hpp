// Capture times of a camera whose clock may be set during the run.
#pragma once

#include "pipeline/clock/clock_fit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace specklescope {

/// On the camera's clock, shifted when it was set or restarted so that times continue with the elapsed host
/// time; on our clock if the camera has none. One thread only; outlives reconnections.
class CameraTime {
public:
    struct Moment {
        std::int64_t ns = 0;
        bool set = false; ///< the clock was set between the previous frame and this one
    };
    /// The next frame is the first after an opening.
    void reopened() { reopened_ = true; }
    /// `stamp`: from the camera, ns; nothing: none on this frame. `here`: arrival time, ns.
    Moment at(std::optional<std::int64_t> stamp, std::int64_t here) {
        const std::int64_t passed = any_ ? std::max<std::int64_t>(here - here_, 0) : 0;
        here_ = here;
        Moment now{any_ ? last_ + passed : here};
        if (stamp)
            now = on_its_clock(*stamp, now.ns);
        any_ = true;
        return {last_ = now.ns, now.set};
    }

private:
    /// `expected`: by our clock.
    Moment on_its_clock(std::int64_t stamp, std::int64_t expected) {
        const bool anew = std::exchange(reopened_, false);
        if (!std::exchange(stamped_, true)) {
            shift_ = any_ ? expected - stamp : 0;
            (void)steps_.was_set(stamp + shift_, here_);
            return {stamp + shift_};
        }
        if (!steps_.was_set(stamp + shift_, here_)) // the previous time without a stamp may be slightly late
            return {std::max(stamp + shift_, last_)};
        shift_ = expected - stamp;
        steps_ = {};
        (void)steps_.was_set(expected, here_);
        return {expected, !anew};
    }

    ClockSteps steps_;
    std::int64_t shift_ = 0, last_ = 0, here_ = 0;
    bool any_ = false, stamped_ = false, reopened_ = false;
};

} // namespace specklescope
