// Progress of a video file: state that GStreamer's threads share with the thread that writes frames, and the
// changes that they make to caps and bytes.
#pragma once

#include "pipeline/frame.hpp"

#include <gst/gst.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace specklescope {

/// Shared with GStreamer's threads. Outlives the pipeline and all its buffers.
struct FilmProgress {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SteadyClock::time_point> inside; ///< start of each frame in the encoder
    SteadyClock::duration took{};               ///< time in the encoder of the last frame
    std::uint64_t muxed = 0;                    ///< encoded frames that reached the file's writer
    int threads_missing = 0;                    ///< created by GStreamer and not running yet
    bool stands_still = false;                  ///< the encoder returned no frame for a long time
    bool abandoned = false;                     ///< nothing more is written
    bool ended = false;
    bool failed = false;
    std::string error;
    std::string text;    ///< the description, once it is complete
    std::string escaped; ///< the same text as the muxer writes it

    // Called by GStreamer; `progress` points to a FilmProgress, whose mutex they lock.
    /// Keeps the first error, and the end of the stream.
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer progress);
    /// On the input of the MP4 muxer.
    static GstPadProbeReturn on_caps(GstPad*, GstPadProbeInfo* info, gpointer);
    /// On the input of the muxer: counts encoded frames.
    static GstPadProbeReturn on_muxed(GstPad*, GstPadProbeInfo*, gpointer progress);
    /// On the bytes that go into the file.
    static GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer progress);
};

} // namespace specklescope
