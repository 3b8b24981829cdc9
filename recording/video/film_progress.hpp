// How far a film is: what GStreamer's threads tell the one that writes frames, and what they change on the
// way.
#pragma once

#include "pipeline/frame.hpp"

#include <gst/gst.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace specklescope {

/// Shared with GStreamer's threads. It outlives the pipeline, and with that every buffer on its way.
struct FilmProgress {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SteadyClock::time_point> inside; ///< when each frame in the encoder went in
    SteadyClock::duration took{};               ///< from there until it came out, of the last one
    std::uint64_t muxed = 0;                    ///< encoded frames that reached the file's writer
    int threads_missing = 0;                    ///< begun by GStreamer, and not running yet
    bool stands_still = false;                  ///< no frame came out for long
    bool abandoned = false;                     ///< nothing is written any more
    bool ended = false;
    bool failed = false;
    std::string error;
    std::string text;    ///< the description, once it is complete
    std::string escaped; ///< the same as the muxer writes it

    // Called by GStreamer; `progress` is one of these, under its own mutex.
    /// The first error, and the end.
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer progress);
    /// Of what the MP4 muxer gets.
    static GstPadProbeReturn on_caps(GstPad*, GstPadProbeInfo* info, gpointer);
    /// Of the muxer: an encoded frame came.
    static GstPadProbeReturn on_muxed(GstPad*, GstPadProbeInfo*, gpointer progress);
    /// Of the file.
    static GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer progress);
};

} // namespace specklescope
