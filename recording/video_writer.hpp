// Matroska through GStreamer: FFV1 (lossless) for raw frames, H.264 for the colour-mapped picture of results.
#pragma once

#include "recording/record_file.hpp"

#include <cstdint>

namespace specklescope {

/// Presentation times that always grow: the camera's clock where it moves, one nominal period where it does
/// not.
class VideoClock {
public:
    /// `rate` > 0: frames are that far apart whatever the camera says. `nominal`: the source's rate, 0 if
    /// unknown.
    VideoClock(double rate, double nominal);
    std::int64_t next(std::int64_t capture_ns); ///< ns from the first frame

private:
    bool fixed_;
    double period_ns_;
    std::int64_t offset_ = 0, last_ = -1, last_capture_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace specklescope
