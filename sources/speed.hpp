// The option of every source that plays what there is: how fast.
#pragma once

namespace specklescope {

inline constexpr double kMinSpeed = 1e-6; ///< where it is not 0
inline constexpr double kMaxSpeed = 16;
inline constexpr const char* kSpeedDoc =
    "Speed as a multiple of the rate; capture times stay. 0: as fast as possible";

} // namespace specklescope
