// Capture times on an axis that never decreases.
#pragma once

#include <cstdint>

namespace specklescope {

/// Time axis for measurements. After a clock was set back it continues with the interval of the two frames
/// before. One thread only.
class GrowingTime {
public:
    /// `follows`: the source knows of no gap between this frame and the previous one.
    std::int64_t at(std::int64_t capture_ns, bool follows) {
        std::int64_t time = capture_ns + shift_;
        if (any_ && time < last_) {
            time = last_ + step_;
            shift_ = time - capture_ns;
        } else if (any_ && follows) {
            step_ = time - last_;
        }
        any_ = true;
        return last_ = time;
    }

private:
    std::int64_t last_ = 0, shift_ = 0, step_ = 0;
    bool any_ = false;
};

} // namespace specklescope
