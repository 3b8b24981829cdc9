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

struct Flow {
    Flow(std::unique_ptr<Source> from, Chain first, PipelineOptions given)
        : options(std::move(given)), source(std::move(from)) {
        first.set_channel(options.channel);
        um_per_source_px = options.um_per_source_px;
        wanted = std::make_shared<const EditState>(
            EditState{.chain = std::make_shared<const Chain>(std::move(first)), .regions = options.regions});
        applied = wanted;
    }

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
    std::atomic<bool> seek_waits{false};       ///< `seek` is set, or the source is seeking
    std::atomic<std::uint64_t> epoch{0}; ///< number of the last seek in effect: older frames are not shown
    std::atomic<bool> paused{false};
    std::atomic<int> steps{0};
    std::atomic<bool> viewer_wants_host{true};
    std::atomic<int> slots{0};
    Mailbox mailbox;
    Stats stats;

    /// Held while sinks get a result. After removing a sink, lock it once before closing that sink.
    std::mutex delivery;
    /// Held while an edit makes the next EditState from the newest.
    std::mutex editing;

    // Guarded by mutex.
    mutable std::mutex mutex;
    std::condition_variable wake; ///< notified for stop, seeks and loops
    std::optional<SeekRequest> seek;
    std::optional<std::uint64_t> sought; ///< Pipeline::sought()
    std::uint64_t seeks = 0;             ///< number of requested seeks
    SeekFailure seek_failure;
    std::optional<LoopRange> loop;
    std::shared_ptr<const EditState> wanted;              ///< with every edit; never null
    std::shared_ptr<const EditState> applied;             ///< used by the executor; never null
    std::deque<std::shared_ptr<const EditState>> pending; ///< edits after `applied`, up to `wanted`
    std::uint64_t version = 0;                            ///< of the newest edit, including refused ones
    std::deque<RefusedEdit> refused;
    double um_per_source_px = 0; ///< 0: from the source
    PipelineStatus status;
    std::uint64_t begins_at = 0; ///< first frame of the run in its file
    std::vector<std::shared_ptr<Sink>> sinks;
    std::vector<std::shared_ptr<Sink>> sinks_to_open; ///< added before start()
    std::uint64_t dropped_by_closed_sinks = 0;
    std::deque<Message> messages;
    Params source_params;
    std::string backend, device, note;
    std::shared_ptr<SlotMemory> slot_memory;
    std::shared_ptr<FrameRing> ring;

    void set_um_of_raw(double um) {
        const std::scoped_lock lock(mutex);
        um_per_source_px = um;
    }
    double um_of_raw() const { ///< the user's value, or the source's; 0: unknown
        const std::scoped_lock lock(mutex);
        return um_per_source_px > 0 ? um_per_source_px : status.source.um_per_px;
    }
    bool live() const {
        const std::scoped_lock lock(mutex);
        return status.source.live;
    }
    bool patient() const {
        const std::scoped_lock lock(mutex);
        return status.source.patient;
    }
    bool own_clock() const { ///< capture times are from the source's clock
        const std::scoped_lock lock(mutex);
        return !status.source.clock.empty();
    }
    bool records() const { ///< a sink stores results
        const std::scoped_lock lock(mutex);
        return std::any_of(sinks.begin(), sinks.end(), [](const auto& sink) { return sink->records(); });
    }
    double source_rate() const {
        const std::scoped_lock lock(mutex);
        return status.source.rate;
    }
    std::optional<LoopRange> looped() const {
        const std::scoped_lock lock(mutex);
        return loop;
    }
    /// Records a failed seek, unless a later one has failed already.
    void seek_failed(std::uint64_t number, const std::string& why) {
        const std::scoped_lock lock(mutex);
        if (number >= seek_failure.seek)
            seek_failure = {number, why};
    }
    void set_state(RunState state, std::string message) {
        const std::scoped_lock lock(mutex);
        status.state = state;
        status.message = std::move(message);
    }
    void log(Message::Level level, std::string text); ///< to the log and the screen
    void close_sink(Sink& sink);                      ///< keeps its count of drops
    /// Returns to the applied state, unless a newer edit was made, and reports the refusal once.
    void refuse(RefusedEdit edit, const std::shared_ptr<const EditState>& tried);
    std::shared_ptr<const EditState> newest() const {
        const std::scoped_lock lock(mutex);
        return wanted;
    }
    /// Publishes a changed copy of the newest EditState, unless `change` throws.
    void publish(const std::function<void(EditState&)>& change);
    std::uint64_t next_version() const { ///< for `change`
        const std::scoped_lock lock(mutex);
        return version + 1;
    }
    std::uint64_t edit(const std::function<void(Chain&)>& change); ///< Pipeline::edit()
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
void push_to_sinks(Flow& flow, const Result& result);

} // namespace specklescope
