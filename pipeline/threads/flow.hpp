// State shared by the acquisition and the processing thread. Internal to pipeline/.
#pragma once

#include "pipeline/pipeline.hpp"

#include <blockingconcurrentqueue.h>
#include <concurrentqueue.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace specklescope {

/// Chain and regions for the next frames. Immutable: an edit publishes a new object.
struct EditState {
    std::shared_ptr<const Chain> chain;
    std::shared_ptr<const RegionOutlines> regions; ///< null: none
    std::uint64_t chain_version = 0, regions_version = 0;
    std::uint64_t version() const { return std::max(chain_version, regions_version); }
};
struct SourceEdit {
    std::string name;
    ParamValue value;
};

/// A frame in the queue between the threads.
struct Queued {
    Frame frame;
    std::uint64_t epoch = 0;       ///< number of the last seek before it; 0: none
    bool preroll = false;          ///< fills windows before the seek target
    bool refresh = false;          ///< the displayed frame again: SeekRequest::refresh
    std::uint64_t played_from = 0; ///< position of the last discontinuity (seek target or loop start)
    std::uint64_t lost = 0;        ///< frames of a file lost before it: counted when it is processed
};
struct SeekRequest {
    std::uint64_t frame = 0;
    bool warm = false;
    std::uint64_t number = 0; ///< counts the requests, from 1
    bool refresh = false;     ///< made by the processing thread: the result is Result::repeated
};
/// True if the frame is beyond the end of its loop. After a seek beyond the loop's end, playback runs to the
/// end of the file.
inline bool beyond(const LoopRange& loop, std::uint64_t position, std::uint64_t played_from) {
    return loop.last && position > *loop.last && played_from <= *loop.last;
}

/// Chain and regions with every edit, the edits that the executor has not applied yet, and those it refused.
/// Any thread; has its own mutex, since nothing else depends on them.
class Edits {
public:
    Edits(Chain first, const PipelineOptions& options) {
        first.set_channel(options.channel);
        wanted_ = applied_ = std::make_shared<const EditState>(
            EditState{.chain = std::make_shared<const Chain>(std::move(first)), .regions = options.regions});
    }

    /// With every edit; never null.
    std::shared_ptr<const EditState> newest() const {
        const std::scoped_lock lock(mutex_);
        return wanted_;
    }
    /// Used by the executor; never null.
    std::shared_ptr<const EditState> applied() const {
        const std::scoped_lock lock(mutex_);
        return applied_;
    }
    /// Publishes a changed copy of the newest EditState, unless `change` throws.
    void publish(const std::function<void(EditState&)>& change);
    std::uint64_t edit(const std::function<void(Chain&)>& change); ///< Pipeline::edit()
    std::uint64_t version() const { ///< of the newest edit, including refused ones
        const std::scoped_lock lock(mutex_);
        return version_;
    }
    std::uint64_t next_version() const { return version() + 1; } ///< for `change`
    std::uint64_t effective(std::uint64_t version) const;        ///< Pipeline::effective()
    std::vector<RefusedEdit> refused(std::uint64_t later_than) const;

    /// The executor begins with the newest state.
    void apply_all();
    /// Takes the next edit to apply; null: none.
    std::shared_ptr<const EditState> take();
    void set_applied(std::shared_ptr<const EditState> state) {
        const std::scoped_lock lock(mutex_);
        applied_ = std::move(state);
    }
    /// Returns to the applied state, unless a newer edit was made. False if this refusal is known.
    bool refuse(const RefusedEdit& edit, const std::shared_ptr<const EditState>& tried);

private:
    std::mutex editing_; ///< held while an edit makes the next EditState from the newest
    mutable std::mutex mutex_;
    std::shared_ptr<const EditState> wanted_, applied_;
    std::deque<std::shared_ptr<const EditState>> pending_; ///< edits after applied_, up to wanted_
    std::atomic<bool> any_pending_{false};                 ///< read for each frame without the mutex
    std::uint64_t version_ = 0;
    std::deque<RefusedEdit> refused_;
};

/// Pause, seeks and loop of a file. Members that are not atomic, and the functions, require Flow::mutex.
struct Playback {
    std::atomic<bool> paused{false};
    std::atomic<SteadyClock::time_point> resumed{}; ///< end of the last pause
    std::atomic<int> steps{0};
    std::atomic<bool> seek_waits{false}; ///< `seek` is set, or the source is seeking
    std::atomic<std::uint64_t> epoch{0}; ///< number of the last seek in effect: older frames are not shown
    std::uint64_t begins_at = 0;         ///< first frame of the run in its file
    std::optional<SeekRequest> seek;
    std::optional<std::uint64_t> sought; ///< Pipeline::sought()
    std::uint64_t seeks = 0;             ///< number of requested seeks
    SeekFailure failure;
    std::optional<LoopRange> loop;  ///< set by set_loop()
    std::atomic<bool> loops{false}; ///< there is one: read for each frame without the mutex

    void set_loop(std::optional<LoopRange> range) {
        loop = range;
        loops = loop.has_value();
    }
    /// True if the result's delay counts: it is new, and did not wait during a pause.
    bool timed(const Result& result) const {
        return !result.repeated && !paused && result.info.arrival >= resumed.load();
    }
    void restart() { ///< pause and loop stay
        steps = 0;
        seek_waits = false;
        epoch = seeks = 0;
        failure = {};
        seek.reset();
        sought.reset();
    }
    /// Returns the number of the request. Notify Flow::wake after it.
    std::uint64_t request(std::uint64_t frame, bool warm, bool refresh = false) {
        seek = {frame, warm, ++seeks, refresh};
        sought = frame;
        seek_waits = true;
        return seeks;
    }
    /// The source has seeked, or refused to (`there` is false), unless another request has come.
    void settle(bool there) {
        seek_waits = seek.has_value();
        if (!there && !seek)
            sought.reset();
    }
};

/// Outputs of a run. Everything but `delivery` requires Flow::mutex.
struct Sinks {
    /// Held while sinks get a result. After removing a sink, lock it once before closing that sink.
    std::mutex delivery;
    std::vector<std::shared_ptr<Sink>> open, to_open; ///< to_open: added before start()
    std::uint64_t dropped_by_closed = 0;
    /// One is open; one of them stores results. Read for each frame without the mutex: a sink gets the frames
    /// that are submitted after it was added.
    std::atomic<bool> any{false}, record{false};

    void add(const std::vector<std::shared_ptr<Sink>>& more) {
        open.insert(open.end(), more.begin(), more.end());
        changed();
    }
    /// False: it was removed by another thread, which closes it.
    bool remove(const std::shared_ptr<Sink>& sink) {
        const bool found = std::erase(open, sink) > 0;
        changed();
        return found;
    }
    std::vector<std::shared_ptr<Sink>> remove_all() {
        auto all = std::exchange(open, {});
        changed();
        return all;
    }

private:
    void changed() {
        any = !open.empty();
        record = std::any_of(open.begin(), open.end(), [](const auto& sink) { return sink->records(); });
    }
};

struct Flow {
    Flow(std::unique_ptr<Source> from, Chain first, PipelineOptions given)
        : options(std::move(given)), source(std::move(from)), edits(std::move(first), options),
          um_per_source_px(options.um_per_source_px) {}

    const PipelineOptions options;
    const std::unique_ptr<Source> source;

    // Shared between the threads.
    /// larger than the ring that make_ring() gives a fast camera
    moodycamel::BlockingConcurrentQueue<Queued> frames{1024};
    moodycamel::ConcurrentQueue<SourceEdit> source_edits;
    std::atomic<bool> stop{false};
    std::atomic<bool> source_done{false}; ///< set after the last frame was queued; written under the mutex
    std::atomic<bool> finished{false};
    std::atomic<bool> computes_no_more{false}; ///< the processing thread ended with an error
    std::atomic<bool> viewer_wants_host{true};
    std::atomic<int> slots{0};
    Mailbox mailbox;
    Stats stats;
    Edits edits;

    // Guarded by mutex.
    mutable std::mutex mutex;
    std::condition_variable wake; ///< notified for stop, seeks and loops
    Playback playback;
    Sinks sinks;
    double um_per_source_px = 0; ///< 0: from the source
    PipelineStatus status;
    std::deque<Message> messages;
    Params source_params;
    BackendInfo backend;
    std::shared_ptr<SlotMemory> slot_memory;
    std::shared_ptr<FrameRing> ring;

    // Facts of status.source, read for each frame without the mutex.
    std::atomic<bool> live{false}, patient{false}; ///< SourceInfo
    std::atomic<bool> own_clock{false};            ///< capture times are from the source's clock
    /// Requires the mutex.
    void set_source(const SourceInfo& info) {
        status.source = info;
        live = info.live;
        patient = info.patient;
        own_clock = !info.clock.empty();
    }

    void set_um_of_raw(double um) {
        const std::scoped_lock lock(mutex);
        um_per_source_px = um;
    }
    double um_of_raw() const { ///< the user's value, or the source's; 0: unknown
        const std::scoped_lock lock(mutex);
        return um_per_source_px > 0 ? um_per_source_px : status.source.um_per_px;
    }
    double source_rate() const {
        const std::scoped_lock lock(mutex);
        return status.source.rate;
    }
    std::optional<LoopRange> looped() const {
        if (!playback.loops)
            return std::nullopt;
        const std::scoped_lock lock(mutex);
        return playback.loop;
    }
    /// Records a failed seek, unless a later one has failed already.
    void seek_failed(std::uint64_t number, const std::string& why) {
        const std::scoped_lock lock(mutex);
        if (number >= playback.failure.seek)
            playback.failure = {number, why};
    }
    void set_state(RunState state, std::string message) {
        const std::scoped_lock lock(mutex);
        status.state = state;
        status.message = std::move(message);
    }
    void log(Message::Level level, std::string text); ///< to the log and the screen
    void close_sink(Sink& sink);                      ///< keeps its count of drops
    /// Waits for `time` or until stop.
    void sleep(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, time, [&] { return stop.load(); });
    }
};

/// Opens the sinks added before start, all or none.
void open_sinks(Flow& flow, const StreamInfo& stream);
bool wants_host(Flow& flow); ///< call before open_sinks()
void close_sinks(Flow& flow);

/// Makes flow.ring: as many slots of this shape as requested or as a live source's rate suggests, plus `more`
/// that the source may lend. Called before acquire_frames(), so that no frame waits for memory, and by it
/// when the size changes. Throws RunError without memory.
std::shared_ptr<FrameRing> make_ring(Flow& flow, const Shape& shape, int more);

/// Reads the source until it ends or `stop` is set; reopens a dead live source, and waits at the end of a
/// file for a seek.
void acquire_frames(Flow& flow);

/// Runs the chain on queued frames; passes results to mailbox and sinks.
void process_frames(Flow& flow, std::unique_ptr<Executor> executor);

/// True if the viewer or a sink needs the next result in host memory.
bool want_host_image(const Flow& flow);
/// Passes the result to every sink; waits for capacity if the source is a file. A sink that throws is
/// removed, and the run continues.
void push_to_sinks(Flow& flow, const Result& result, const Result& shown);

} // namespace specklescope
