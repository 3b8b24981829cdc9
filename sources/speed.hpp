// Playback speed, an option of all sources that are not live.
#pragma once

namespace specklescope {

inline constexpr double kMinSpeed = 1e-6; ///< unless it is 0
inline constexpr double kMaxSpeed = 16;
inline constexpr const char* kSpeedDoc =
    "played so many times as fast as its rate; 0: as fast as frames are taken; capture times stay";

} // namespace specklescope
