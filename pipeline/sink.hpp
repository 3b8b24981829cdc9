// Where results go, besides the eye. All sinks share this small trait.
#pragma once

#include "pipeline/event.hpp"
#include "pipeline/result.hpp"
#include "pipeline/source.hpp"

#include <limits>
#include <string>
#include <vector>

namespace specklescope {

/// What a sink may want to know about the whole stream, for its metadata.
struct StreamInfo {
    SourceInfo source;
    std::string source_text; ///< the SOURCE argument
    std::string backend;     ///< "cpu", "cuda: NVIDIA H200"
    /// µm a side of a pixel of its raw frames; 0: unknown. Of results: um_per_px() (pipeline/scale).
    double um_per_source_px = 0;
};

struct SinkFile {
    std::string path;
    std::uint64_t written = 0, bytes = 0;
};

struct SinkStatus {
    std::string path;              ///< the file now being written; empty before the first frame
    std::vector<SinkFile> before;  ///< files that were finished before it: of other sizes, or full
    std::uint64_t written = 0;     ///< frames on disk or in the encoder, in all files
    std::uint64_t dropped = 0;     ///< frames offered and not written
    std::uint64_t late = 0;        ///< of those, taken first and then not written in time
    std::uint64_t lost_before = 0; ///< frames that the source had made and that were never offered
    std::uint64_t left_out = 0;    ///< frames between two that were to be recorded
    std::uint64_t bytes = 0;       ///< of the present file
    std::uint64_t queued = 0;
    /// Until its disk is as full as it may become, at the pace so far, s; NaN: unknown, or no disk.
    double disk_left_s = std::numeric_limits<double>::quiet_NaN();
    std::string complete; ///< why it took all that it was to take: "10 s are recorded"; empty: it goes on
    std::string error;    ///< why it stopped by itself; empty while well
    bool closed = false;
};

class Sink {
public:
    virtual ~Sink() = default;
    /// Checks and creates what can be created before the first frame. Throws UsageError or RunError.
    virtual void open(const StreamInfo& stream) = 0;
    /// Called on the processing thread for every result, in order; must not block a live stream. A file
    /// stream
    /// (`may_wait`) waits for room instead of dropping.
    virtual void push(const Result& result, bool may_wait) = 0;
    /// An event was marked, given another label, or removed. From any thread, at any time; never waits.
    virtual void mark(const EventMark& event) { (void)event; }
    /// An end is wanted: whoever waits for another program waits for a second at most. From any thread.
    virtual void hurry() noexcept {}
    /// Writes what was accepted, finishes the file, joins the thread. Idempotent; never throws.
    virtual void close() noexcept = 0;
    /// Asked when a frame is begun: those that were on their way on a GPU when this sink came may reach it
    /// without Result::image. False: raw frames only.
    virtual bool wants_host_image() const = 0;
    virtual bool records() const { return false; } ///< what it gets is kept: Source::recording
    virtual SinkStatus status() const = 0;
};

} // namespace specklescope
