// Lost frames from capture times, for cameras whose frames reach us without numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace specklescope {

/// Learns the period from the last frames and counts the frames that a longer step leaves out. A camera that
/// does not run evenly (triggered, for one) teaches no period, and then nothing is counted. One thread only.
class GapCounter {
public:
    void restart() { *this = GapCounter{}; }

    /// Frames missing between the one before and this one, captured at `time_ns` on the camera's own clock.
    std::uint64_t missing_before(std::int64_t time_ns) {
        const std::int64_t step = time_ns - last_ns_;
        const bool first = !started_;
        started_ = true;
        last_ns_ = time_ns;
        if (first)
            return 0;
        const std::int64_t period = even_period();
        steps_[next_ % kSteps] = step;
        ++next_;
        // After a minute it is a pause or a clock that was set, not a handful of lost frames.
        if (period <= 0 || step < period + period / 2 || step > kLongest)
            return 0;
        return static_cast<std::uint64_t>((step + period / 2) / period - 1);
    }

private:
    static constexpr std::size_t kSteps = 32;
    static constexpr std::int64_t kLongest = 60'000'000'000;

    /// Median step if three quarters of the steps are within a tenth of it, otherwise 0.
    std::int64_t even_period() const {
        if (next_ < kSteps)
            return 0;
        auto sorted = steps_;
        std::sort(sorted.begin(), sorted.end());
        const std::int64_t median = sorted[kSteps / 2];
        const auto near = std::count_if(sorted.begin(), sorted.end(), [&](std::int64_t step) {
            return step > median - median / 10 && step < median + median / 10;
        });
        return near * 4 >= static_cast<std::ptrdiff_t>(kSteps) * 3 ? median : 0;
    }

    std::array<std::int64_t, kSteps> steps_{};
    std::size_t next_ = 0;
    std::int64_t last_ns_ = 0;
    bool started_ = false;
};

} // namespace specklescope
