// The option of every source that plays what there is: how fast.
#pragma once

namespace specklescope {

inline constexpr double kMinSpeed = 1e-6; ///< where it is not 0
inline constexpr double kMaxSpeed = 16;
inline constexpr const char* kSpeedDoc =
    "played so many times as fast as its rate; 0: as fast as frames are taken; capture times stay";

} // namespace specklescope
