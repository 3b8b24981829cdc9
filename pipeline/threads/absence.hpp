// What a live source would have given while it was away: an estimate, and told as one.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace specklescope {

/// By the rate at which its frames came before: measured over at least ten of them, else as before an earlier
/// absence, else `nominal`, as the source says (frames/s; 0: unknown, and then nothing is estimated).
class Absence {
public:
    struct Missed {
        std::chrono::nanoseconds away{}; ///< from the last frame to the next
        std::uint64_t frames = 0;
    };

    /// The source was found dead or silent; again while it is away changes nothing.
    void begins(double nominal) {
        rate_ = rate(nominal);
        away_ = true;
        frames_ = 0;
    }
    /// A frame came; if the source had been away, what was missed before it.
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
    SteadyClock::time_point first_{}; ///< of `frames_`, those since it was opened
    std::uint64_t frames_ = 0;
    double rate_ = 0;
    bool away_ = false;
};

} // namespace specklescope
