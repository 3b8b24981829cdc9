// Marks that the user sets during a run: "stimulus", "event 1".
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

/// Mark on a frame, identified as in FrameInfo.
struct EventMark {
    /// counts the events of a session from 1; a later mark with the same number replaces it
    std::uint64_t number = 0;
    std::uint64_t sequence = 0;
    std::int64_t capture_ns = 0;
    std::string label;
    bool removed = false;
    bool timed = true; ///< false: the capture time is unknown (FrameInfo::time_origin)
};

} // namespace specklescope
