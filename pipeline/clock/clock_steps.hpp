// Whether a camera's clock was set between two frames, told from when they arrived here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace specklescope {

/// A frame may be late and never early: one that seems to come earlier than the quickest before it was
/// stamped by a clock that somebody set ahead. A clock coarser than the distance of two frames stands between
/// them, and was not set. One thread only.
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
        // What a slow clock has fallen behind is no lateness: it is forgotten, faster than clocks run apart.
        late_ = set ? 0 : std::max<std::int64_t>(late - pace / 4, 0);
        return set;
    }

private:
    static constexpr std::int64_t kEarly = 100'000'000;  ///< ns
    static constexpr std::int64_t kLate = 5'000'000'000; ///< ns that nothing here holds a frame up for
    std::int64_t capture_ = 0, arrival_ = 0;             ///< of the frame before
    std::int64_t late_ = 0;                              ///< by which it came later than the quickest
    bool any_ = false;
};

} // namespace specklescope
