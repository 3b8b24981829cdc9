// Outputs for results besides the display.
#pragma once

#include "pipeline/result.hpp"
#include "pipeline/source.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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

/// Stream properties for a sink's metadata.
struct StreamInfo {
    SourceInfo source;
    std::string source_text; ///< the SOURCE argument
    std::string backend;     ///< "cpu", "cuda: NVIDIA H200"
    /// Side of a raw pixel in µm; 0: unknown. For results: um_per_px() (pipeline/scale).
    double um_per_source_px = 0;
    int slots = 0; ///< of the ring of frames; 0: unknown
};

struct SinkFile {
    std::string path;
    std::uint64_t written = 0, bytes = 0;
};

struct SinkStatus {
    std::string path;             ///< current file; empty before the first frame
    std::vector<SinkFile> before; ///< earlier files, finished because of their size or a new image shape
    std::uint64_t written = 0;    ///< frames on disk or in the encoder, in all files
    /// From the first to the last frame written, s, by their own times; NaN: unknown.
    double seconds = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t dropped = 0;     ///< frames offered and not written
    std::uint64_t late = 0;        ///< of those, accepted but not written in time
    std::uint64_t lost_before = 0; ///< frames of the source that were never offered
    std::uint64_t left_out = 0;    ///< decimated: frames between two recorded ones
    std::uint64_t bytes = 0;       ///< of the current file
    std::uint64_t queued = 0;
    /// Estimated time until the disk limit at the current rate, s; NaN: unknown, or no disk.
    double disk_left_s = std::numeric_limits<double>::quiet_NaN();
    std::string complete; ///< why it is complete: "10 s are recorded"; empty: it continues
    std::string error;    ///< why it stopped; empty if all is well
    bool closed = false;
};

class Sink {
public:
    virtual ~Sink() = default;
    /// Checks and creates files and connections before the first frame. Throws UsageError or RunError.
    virtual void open(const StreamInfo& stream) = 0;
    /// Called on the processing thread for every result, in order; must not block a live stream. With
    /// `may_wait` (a file) it waits for capacity instead of dropping.
    virtual void push(const Result& result, bool may_wait) = 0;
    /// An event was set, renamed or removed. Any thread, any time; never waits.
    virtual void mark(const EventMark& event) { (void)event; }
    /// Limits waits for other programs to one second, because the run is ending. Any thread.
    virtual void hurry() noexcept {}
    /// Writes the accepted results, finishes the file, joins the thread. Idempotent; never throws.
    virtual void close() noexcept = 0;
    /// Read at the start of each frame: frames that were in flight on a GPU when this sink was added may have
    /// no Result::image. False: raw frames only.
    virtual bool wants_host_image() const = 0;
    /// True: it gets the displayed image (Chain::shown), not always the last one of the chain.
    virtual bool follows_display() const { return false; }
    virtual bool records() const { return false; } ///< it stores its results: Source::recording
    virtual SinkStatus status() const = 0;
};

} // namespace specklescope
