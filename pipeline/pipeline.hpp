// The one flow: acquisition thread → ring and queue → processing thread → mailbox and sinks.
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
    int threads = 0;        ///< of the host, also where it takes over from a GPU; 0: all cores
    GreyChannel channel = GreyChannel::luma;       ///< what stages for grey images get of colour
    std::shared_ptr<const RegionOutlines> regions; ///< null: none; start() refuses one outside the picture
    int slots = 0;                                 ///< of the ring, at least kMinSlots; 0: default_slots
    std::uint64_t from = 0;      ///< the first frame of a file; start() refuses one that is not there
    double from_s = 0;           ///< the same as a time, by the file's rate; 0: as `from` says
    bool loop = false;           ///< begin again there at the end, as set_loop()
    std::uint64_t frames = 0;    ///< stop after this many; 0: no limit
    std::string source_text;     ///< for metadata
    double um_per_source_px = 0; ///< µm a side of a raw pixel; 0: as the source says
    double silence_s = 5;        ///< a live source silent for longer is taken for dead and opened again
};

enum class RunState : std::uint8_t { idle, running, paused, reconnecting, ended, failed };
const char* to_string(RunState state);

struct PipelineStatus {
    RunState state = RunState::idle;
    std::string message; ///< "camera X is silent; next try in 2 s", the error that ended the run; empty when
                         ///< all is well
    SourceInfo source;
};

/// A line for the log and the screen.
struct Message {
    enum class Level : std::uint8_t { info, warning, error } level = Level::info;
    std::string text;
};

/// An edit that the processing thread could not apply. The chain, or the regions, before it stay in effect.
struct RefusedEdit {
    std::uint64_t version = 0;
    std::string why;
    bool of_regions = false; ///< or of the chain
};

/// Parameters of one stage, by name.
using NamedValues = std::vector<std::pair<std::string, ParamValue>>;

/// What is played again and again; in frames of the file.
struct LoopRange {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last{}; ///< nothing: up to the end
    bool operator==(const LoopRange&) const = default;
};

/// A seek whose frame did not come.
struct SeekFailure {
    std::uint64_t seek = 0; ///< Pipeline::seek(); 0: none failed
    std::string why;
};

class Pipeline {
public:
    Pipeline(std::unique_ptr<Source> source, Chain chain, PipelineOptions options);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Opens the source, makes the executor, checks the chain against the source's shape, starts both
    /// threads. Throws UsageError or RunError; then nothing is left running.
    void start();
    /// Joins both threads, finishes all sinks, closes the source. Idempotent. start() may follow. Both may be
    /// called from any thread and take turns.
    void stop();
    /// True between the end of start() and the beginning of stop().
    bool started() const;
    /// True once the source has ended (or failed) and everything it gave is processed.
    bool finished() const;

    /// Changes a copy of chain() and publishes it; the processing thread takes it between two frames.
    /// Returns the version that results made with it will carry. Throws UsageError, and publishes nothing,
    /// if `change` throws or the stages do not fit each other. An edit that fails later (memory, a file, the
    /// size of the image) is in take_messages() and refused(), and chain() returns to the last good one.
    /// `change` must not call the pipeline.
    std::uint64_t edit(const std::function<void(Chain&)>& change);
    std::uint64_t edit(std::size_t stage, std::string name, ParamValue value) {
        return edit_all(stage, {{std::move(name), std::move(value)}});
    }
    /// Sets all values or none.
    std::uint64_t edit_all(std::size_t stage, const NamedValues& values);
    /// Replaces the stages and keeps channel and input.
    std::uint64_t set_chain(Chain chain);
    std::uint64_t set_channel(GreyChannel channel);
    /// Null: none. Refused if one has no pixel on the results.
    std::uint64_t set_regions(std::shared_ptr<const RegionOutlines> regions);
    /// The last kRefused refusals with a version later than this, in their order.
    std::vector<RefusedEdit> refused(std::uint64_t later_than = 0) const;
    static constexpr std::size_t kRefused = 100;
    /// Version that results carry at least once the edit of this version took effect or was refused.
    std::uint64_t effective(std::uint64_t version) const;
    std::uint64_t version() const; ///< of the newest edit
    /// µm a side of a raw pixel; 0: as the source says. Sinks that are open keep what they were told.
    void set_um_per_source_px(double um);
    double um_per_source_px() const; ///< that one, or the source's; 0: unknown
    /// Throws UsageError for a value that the declaration does not allow. A value that the source refuses
    /// later is in take_messages(), and source_params() returns to the source's.
    void edit_source(const std::string& name, const ParamValue& value);
    Params source_params() const; ///< with every edit
    /// Files stop reading; live sources go on and the picture stands still.
    void pause(bool on);
    void step(); ///< one frame of a paused file
    bool paused() const;
    /// A file goes on at this frame, from 0; paused, it shows that one and stands. Also after the end, which
    /// is then none. Of several at once the last counts. Frames read before are not shown any more (they are
    /// counted: StatsSnapshot::passed_over) and histories begin anew; `warm`: frames in front of it go
    /// through the chain first, as many as its histories rest on, and nobody sees those. One that is refused
    /// changes nothing and shows up in take_messages(). Returns its number, from 1: results behind it carry
    /// that.
    std::uint64_t seek(std::uint64_t frame, bool warm = false);
    /// The frame that was asked for last, until it is in the mailbox or it is known that it will not come.
    std::optional<std::uint64_t> sought() const;
    std::uint64_t landed() const;     ///< the number of the last seek that took effect; 0: none did
    SeekFailure seek_failure() const; ///< the last: refused, or its frame could not be read or computed
    /// A file that can be sought begins again at `first` behind `last` or at its end, also where that was
    /// reached before; what was read ahead behind `last` is passed over. What was sought behind `last` is
    /// played to the end of the file. From the first call on the source's own option `loop` is off. Throws
    /// UsageError if `last` lies before `first`.
    void set_loop(std::optional<LoopRange> range);
    std::optional<LoopRange> loop() const;

    /// Opens the sink (throws if it cannot be opened) and feeds it from the next frame on. Before start():
    /// start() opens it, and it gets every frame; if one of them cannot be opened, start() closes the others
    /// again, forgets them all and throws. Throws RunError while another thread is at start() or stop().
    void add_sink(const std::shared_ptr<Sink>& sink);
    /// Takes it out of the flow and closes it; waits for what it had accepted to be written.
    void remove_sink(const std::shared_ptr<Sink>& sink);
    std::vector<SinkStatus> sinks() const;

    Mailbox& mailbox();
    /// False once the viewer reads device images through interop; results then reach the host only if a sink
    /// asks.
    void viewer_wants_host(bool wants);
    /// The viewer reports each drawn result and how it reached the screen.
    void displayed(std::string_view path);

    /// The chain and regions that the next frames are made with: every edit is in them at once.
    std::shared_ptr<const Chain> chain() const; ///< never null
    std::shared_ptr<const RegionOutlines> regions() const;
    StatsSnapshot stats() const;
    PipelineStatus status() const;
    StreamInfo stream() const;
    std::vector<Message> take_messages();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace specklescope
