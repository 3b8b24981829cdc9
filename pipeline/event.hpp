// Marks that somebody sets while a run goes on: "stimulus", "event 1".
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

/// Of a frame, which it names as FrameInfo does.
struct EventMark {
    std::uint64_t number = 0; ///< counts the events of a session from 1; the last word on a number counts
    std::uint64_t sequence = 0;
    std::int64_t capture_ns = 0;
    std::string label;
    bool removed = false;
    bool timed = true; ///< false: nobody states when the frame was taken, FrameInfo::time_origin
};

} // namespace specklescope
