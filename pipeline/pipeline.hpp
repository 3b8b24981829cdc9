// The pipeline: acquisition thread → ring and queue → processing thread → mailbox and sinks.
#pragma once

#include "pipeline/executor.hpp"
#include "pipeline/sink.hpp"
#include "pipeline/source.hpp"
#include "pipeline/stats.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

struct PipelineOptions {
    ExecutorMaker executor; ///< null: the host's
    int threads = 0;        ///< of the host, also after a fallback from the GPU; 0: all cores
    GreyChannel channel = GreyChannel::luma;       ///< channel for grey-only stages
    std::shared_ptr<const RegionOutlines> regions; ///< null: none; start() refuses regions outside the image
    int slots = 0;                                 ///< of the ring, at least kMinSlots; 0: default_slots
    std::uint64_t from = 0;   ///< first frame of a file; start() refuses one that does not exist
    double from_s = 0;        ///< the same as a time, by the file's rate; 0: use `from`
    bool loop = false;        ///< restart at `from` after the end, like set_loop()
    std::uint64_t frames = 0; ///< stop after this many; 0: no limit
    /// Called by start() with the opened source, before the chain is used. May change the chain and throw.
    std::function<void(Chain&, const SourceInfo&)> adapt;
    bool colour_unprocessed = false; ///< start() removes the stages, once, if the frames are in colour
    std::string source_text;         ///< for metadata
    double um_per_source_px = 0;     ///< side of a raw pixel in µm; 0: from the source
    double silence_s = 5;            ///< a live source that is silent for longer is reopened
};

enum class RunState : std::uint8_t { idle, running, paused, reconnecting, ended, failed };
const char* to_string(RunState state);

struct PipelineStatus {
    RunState state = RunState::idle;
    /// "camera X is silent; next try in 2 s", the error that ended the run; empty if all is well
    std::string message;
    SourceInfo source;
};

/// A message for the log and the screen.
struct Message {
    enum class Level : std::uint8_t { info, warning, error } level = Level::info;
    std::string text;
};

/// An edit that the processing thread could not apply. The previous chain or regions stay in effect.
struct RefusedEdit {
    std::uint64_t version = 0;
    std::string why;
    bool of_regions = false; ///< or of the chain
};

/// Parameters of one stage, by name.
using NamedValues = std::vector<std::pair<std::string, ParamValue>>;

/// Range of file frames that is repeated.
struct LoopRange {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last{}; ///< nothing: to the end
    bool operator==(const LoopRange&) const = default;
};

/// A seek that did not produce its frame.
struct SeekFailure {
    std::uint64_t seek = 0; ///< number from Pipeline::seek(); 0: none failed
    std::string why;
};

class Pipeline {
public:
    Pipeline(std::unique_ptr<Source> source, Chain chain, PipelineOptions options);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Opens the source, makes the executor, checks the chain against the source's shape and starts both
    /// threads. Throws UsageError or RunError and leaves nothing running.
    void start();
    /// Joins both threads, finishes all sinks, closes the source. Idempotent; start() may follow. Any thread
    /// may call both; calls are serialised.
    void stop();
    /// True from the end of start() to the beginning of stop().
    bool started() const;
    /// True once the source has ended or failed and all its frames are processed.
    bool finished() const;

    /// Changes a copy of chain() and publishes it; the processing thread applies it between two frames.
    /// Returns the version number of results made with it. Throws UsageError, and publishes nothing, if
    /// `change` throws or the stages do not fit each other. An edit that fails later (memory, a file, the
    /// image size) is reported by take_messages() and refused(), and chain() returns to the last good one.
    /// `change` must not call the pipeline.
    std::uint64_t edit(const std::function<void(Chain&)>& change);
    std::uint64_t edit(std::size_t stage, std::string name, ParamValue value) {
        return edit_all(stage, {{std::move(name), std::move(value)}});
    }
    /// Sets all values, or none on error.
    std::uint64_t edit_all(std::size_t stage, const NamedValues& values);
    /// Replaces the stages; keeps channel and input.
    std::uint64_t set_chain(Chain chain);
    std::uint64_t set_channel(GreyChannel channel);
    /// Displays a named output; "": the last image. Throws UsageError if the chain does not give it.
    std::uint64_t show_output(const std::string& name);
    /// Null: no regions. Refused if a region has no pixel on the results.
    std::uint64_t set_regions(std::shared_ptr<const RegionOutlines> regions);
    /// Refusals with a version later than this, in order; the last kRefused are kept.
    std::vector<RefusedEdit> refused(std::uint64_t later_than = 0) const;
    static constexpr std::size_t kRefused = 100;
    /// Smallest version of results once the edit of this version took effect or was refused.
    std::uint64_t effective(std::uint64_t version) const;
    std::uint64_t version() const; ///< of the newest edit
    /// Side of a raw pixel in µm; 0: from the source. Open sinks keep the previous value.
    void set_um_per_source_px(double um);
    double um_per_source_px() const; ///< that value, or the source's; 0: unknown
    /// Throws UsageError for values that the declaration does not allow. If the source refuses a value later,
    /// take_messages() reports it and source_params() returns to the source's value.
    void edit_source(const std::string& name, const ParamValue& value);
    Params source_params() const; ///< with every edit
    /// Files stop reading; live sources continue, but the displayed image stays.
    void pause(bool on);
    void step(); ///< one frame of a paused file
    bool paused() const;
    /// Continues a file at this frame, counted from 0; a paused file shows only that frame. Also works after
    /// the end. With several calls the last one counts. Frames read before are discarded
    /// (StatsSnapshot::passed_over) and windows start again. `warm`: first process as many preceding frames
    /// as the stages' windows need, without showing them. A refused seek changes nothing and is reported by
    /// take_messages(). Returns the seek's number, from 1; results after it carry this number.
    std::uint64_t seek(std::uint64_t frame, bool warm = false);
    /// Pending seek target, until it is in the mailbox or known to fail.
    std::optional<std::uint64_t> sought() const;
    std::uint64_t last_seek() const;  ///< number of the last completed seek; 0: none
    SeekFailure seek_failure() const; ///< the last one: refused, unreadable or not computed
    /// Repeats a seekable file from `first` after `last` or its end, also if the end was reached already.
    /// Frames read ahead beyond `last` are discarded. After a seek beyond `last`, playback runs to the end of
    /// the file. The first call turns off the source's own option `loop`. Throws UsageError if `last` is
    /// before `first`.
    void set_loop(std::optional<LoopRange> range);
    std::optional<LoopRange> loop() const;

    /// Opens the sink (throws on failure) and feeds it from the next frame on. Before start(), start() opens
    /// it and it gets every frame; if one sink fails to open, start() closes and forgets all of them and
    /// throws. Throws RunError during start() or stop() on another thread.
    void add_sink(const std::shared_ptr<Sink>& sink);
    /// Removes and closes the sink; waits until its accepted results are written.
    void remove_sink(const std::shared_ptr<Sink>& sink);
    std::vector<SinkStatus> sinks() const;

    Mailbox& mailbox();
    /// Set to false when the viewer reads device images through interop; results are then downloaded only for
    /// sinks.
    void viewer_wants_host(bool wants);
    /// Called by the viewer after it has presented a result for the first time, with the display path.
    /// `finished`: OpenGL has ended its work, so that the delay to the screen counts.
    void displayed(const Result& result, std::string_view path, bool finished);

    /// Chain and regions for the next frames, including every edit so far.
    std::shared_ptr<const Chain> chain() const; ///< never null
    std::shared_ptr<const RegionOutlines> regions() const;
    StatsSnapshot stats() const;
    std::optional<RateMeter::Newest> newest_result() const; ///< nothing: no result yet
    PipelineStatus status() const;
    StreamInfo stream() const;
    std::vector<Message> take_messages();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace specklescope
