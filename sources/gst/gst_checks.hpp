// Checks each buffer before an element reads it. GStreamer's filters push an output buffer that nobody wrote
// when their input is smaller than its format needs, and its JPEG decoders make up what is missing.
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

/// A frame of which not all has come: it is left out of the stream.
struct DamagedFrame {
    std::optional<std::int64_t> time{}; ///< stream_time()
    std::uint64_t bytes = 0;
    std::uint64_t needed = 0;              ///< 0: unknown, or a decoder reported the damage
    std::optional<std::uint64_t> number{}; ///< frame_number()

    /// "12 of 345 bytes".
    std::string why() const;
};

/// Damaged frames in the order of the stream, from GStreamer's threads to the acquisition thread.
class DamagedFrames {
public:
    void add(const DamagedFrame& frame);
    /// The oldest, where its time is unknown or before `time`.
    std::optional<DamagedFrame> take(std::int64_t time = std::numeric_limits<std::int64_t>::max());
    void clear();

private:
    std::mutex mutex_;
    std::deque<DamagedFrame> frames_;
};

/// Time of a buffer in its stream, ns from the beginning; nothing where it has no time or lies outside.
std::optional<std::int64_t> stream_time(GstBuffer* buffer, const GstSegment& segment);

/// Number of a frame that a live element counts.
std::optional<std::uint64_t> frame_number(GstBuffer* buffer);

/// Checks what enters the elements of `pipeline`, present and future. Damaged frames are dropped and added to
/// `damaged`. Raw video without padding of its rows, as ffmpeg and cameras write it, gets its true layout.
void check_buffers(GstElement* pipeline, const std::shared_ptr<DamagedFrames>& damaged);

} // namespace specklescope
