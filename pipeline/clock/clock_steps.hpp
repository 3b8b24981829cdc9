// Detects that a camera's clock was set between two frames, from their arrival times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace specklescope {

/// Frames arrive late but never early: a frame that seems earlier than the fastest one before was stamped by
/// a clock that was set ahead. Repeated stamps of a clock coarser than the frame interval are accepted. One
/// thread only.
class ClockSteps {
public:
    /// Times in ns.
    bool was_set(std::int64_t capture_ns, std::int64_t arrival_ns) {
        const std::int64_t step = capture_ns - std::exchange(capture_, capture_ns);
        const std::int64_t passed = arrival_ns - std::exchange(arrival_, arrival_ns);
        if (!std::exchange(any_, true))
            return false;
        const std::int64_t late = late_ + passed - step, pace = std::max<std::int64_t>(passed, 0) / 1000;
        const bool set = step < 0 || late < -kEarly - pace || late > kLate + pace;
        // Forget lateness slowly, but faster than two clocks drift apart: a slow clock is not a late frame.
        late_ = set ? 0 : std::max<std::int64_t>(late - pace / 4, 0);
        return set;
    }

private:
    static constexpr std::int64_t kEarly = 100'000'000;  ///< ns
    static constexpr std::int64_t kLate = 5'000'000'000; ///< ns; no frame is delayed longer by the host
    std::int64_t capture_ = 0, arrival_ = 0;             ///< of the previous frame
    std::int64_t late_ = 0;                              ///< delay compared to the fastest frame
    bool any_ = false;
};

} // namespace specklescope
