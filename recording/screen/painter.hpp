// Frames of a recording of the screen: of results and raw frames makes pictures in colours, with marks.
#pragma once

#include "recording/screen/burn.hpp"

#include <deque>
#include <optional>

namespace specklescope {

/// One recording's. On one thread.
class ScreenPainter {
public:
    /// Capture time from an event for which its label is seen.
    static constexpr double kEventSeconds = 2;
    static constexpr std::size_t kMostEvents = 4; ///< at one time: the newest

    explicit ScreenPainter(const ScreenMarks& marks) : marks_(marks), burner_(marks) {}
    void begin(const StreamInfo& stream);

    /// u8 RGB of the frame as frame.look shows it. Its pixels are overwritten by the next call. Throws
    /// RunError.
    RecordedFrame of(const RecordedFrame& frame);

private:
    void take(const EventMark& event);
    std::string time_text(const FrameInfo& info);
    std::vector<std::string> labels(std::int64_t capture_ns);

    ScreenMarks marks_;
    StreamInfo stream_;
    Burner burner_;
    ScreenPicture picture_;
    std::optional<FrameRing> ring_; ///< of one slot
    std::optional<std::int64_t> first_ns_;
    std::deque<EventMark> events_;
};

} // namespace specklescope
