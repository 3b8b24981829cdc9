// Checks each buffer before an element reads it. If the input is smaller than its format needs, GStreamer's
// filters push uninitialised output buffers, and its JPEG decoders invent the missing parts.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace specklescope {

/// An incomplete frame, which is dropped.
struct DamagedFrame {
    std::optional<std::int64_t> time{}; ///< from stream_time()
    std::uint64_t bytes = 0;
    std::uint64_t needed = 0;              ///< 0: unknown, or a decoder reported the damage
    std::optional<std::uint64_t> number{}; ///< from frame_number()

    /// "12 of 345 bytes".
    std::string why() const;
};

/// Queue of damaged frames in stream order, from GStreamer's threads to the acquisition thread.
class DamagedFrames {
public:
    void add(const DamagedFrame& frame);
    /// The oldest one, if its time is unknown or before `time`.
    std::optional<DamagedFrame> take(std::int64_t time = std::numeric_limits<std::int64_t>::max());
    void clear();

private:
    std::mutex mutex_;
    std::deque<DamagedFrame> frames_;
};

/// Stream time of a buffer, ns from the beginning; nothing without a time or outside the segment.
std::optional<std::int64_t> stream_time(GstBuffer* buffer, const GstSegment& segment);

/// Number of a frame counted by a live element.
std::optional<std::uint64_t> frame_number(GstBuffer* buffer);

/// Checks the input of all current and later elements of `pipeline`. Damaged frames are dropped and added to
/// `damaged`. Raw video without row padding, as from ffmpeg and cameras, gets its true layout.
void check_buffers(GstElement* pipeline, const std::shared_ptr<DamagedFrames>& damaged);

} // namespace specklescope
