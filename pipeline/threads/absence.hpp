// Estimates the frames that a live source missed while it was away.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace specklescope {

/// Uses the rate before the absence: measured over at least ten frames, else that of an earlier absence, else
/// `nominal` of the source (frames/s; 0: unknown, no estimate).
class Absence {
public:
    struct Missed {
        std::chrono::nanoseconds away{}; ///< from the last frame to the next
        std::uint64_t frames = 0;
    };

    /// The source was found dead or silent; repeated calls change nothing.
    void begins(double nominal) {
        rate_ = rate(nominal);
        away_ = true;
        frames_ = 0;
    }
    /// Call for each frame; returns what was missed if the source had been away.
    std::optional<Missed> frame(SteadyClock::time_point now) {
        const auto before = std::exchange(last_, now);
        if (frames_++ == 0)
            first_ = now;
        if (!std::exchange(away_, false) || !before)
            return std::nullopt;
        const double expected = std::chrono::duration<double>(now - *before).count() * rate_;
        return Missed{now - *before, static_cast<std::uint64_t>(std::max(0.0, std::round(expected) - 1))};
    }

private:
    double rate(double nominal) const {
        constexpr std::uint64_t kEnough = 10;
        const double seconds = last_ ? std::chrono::duration<double>(*last_ - first_).count() : 0;
        if (frames_ >= kEnough && seconds > 0)
            return static_cast<double>(frames_ - 1) / seconds;
        return rate_ > 0 ? rate_ : nominal;
    }

    std::optional<SteadyClock::time_point> last_;
    SteadyClock::time_point first_{}; ///< of `frames_`, counted since the opening
    std::uint64_t frames_ = 0;
    double rate_ = 0;
    bool away_ = false;
};

} // namespace specklescope
