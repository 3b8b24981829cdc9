// When the newest frame of a live source no longer shows the present.
#pragma once

#include <algorithm>
#include <chrono>

namespace specklescope {

/// Longest time without a frame that is normal: three frame times, and at least half a second.
constexpr std::chrono::nanoseconds stale_after(std::chrono::nanoseconds frame_time) {
    return std::max<std::chrono::nanoseconds>(3 * frame_time, std::chrono::milliseconds(500));
}

} // namespace specklescope
