// The processing thread: queue → executor → mailbox and sinks. Edits are applied between two frames.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/threads/flow.hpp"
#include "pipeline/threads/incoming.hpp"
#include "pipeline/threads/run_messages.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using std::chrono::milliseconds;

/// The stages up to the last with a history are the same.
bool keeps_history(const Chain& before, const Chain& after) {
    const std::vector<ChainStage>&old = before.stages(), &now = after.stages();
    std::size_t count = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i].type->history && !now[i].bypassed)
            count = i + 1;
    const auto same = [](const ChainStage& a, const ChainStage& b) {
        const std::vector<ParamDecl>& decls = a.params.table().decls();
        return a.type == b.type && a.bypassed == b.bypassed &&
               std::all_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
                   return a.params.get(decl.name) == b.params.get(decl.name);
               });
    };
    return old.size() >= count && before.channel() == after.channel() &&
           std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(count), old.begin(), same);
}

class Processor {
public:
    Processor(Flow& flow, std::unique_ptr<Executor> executor)
        : flow_(flow), edits_(flow.edits), playback_(flow.playback), executor_(std::move(executor)),
          incoming_(flow),
          // checked by Pipeline::start()
          regions_checked_(executor_->output().has_value()), messages_(flow) {}

    void run() {
        messages_.chain(edits_.applied()->chain);
        while (true) {
            if (!refreshing())
                edited_ = apply_edits() || edited_;
            repeat_last();
            const bool source_done = flow_.source_done; // read before the queue
            const bool submitted = submit_next();
            collect(submitted ? executor_->in_flight() >= executor_->capacity() : executor_->in_flight() > 0);
            if (submitted || executor_->in_flight() > 0)
                continue;
            if (!source_done) {
                if (flow_.stop && file_is_paused()) // no wait above blocks any more
                    std::this_thread::sleep_for(milliseconds(5));
                continue;
            }
            const bool empty = incoming_.empty();
            if (flow_.stop && (file_is_paused() || empty))
                return;
            if (empty)
                ended();
        }
    }

    /// Counts all held frames as failed, after an exception ended the run.
    void fail_pending() {
        const auto held = std::count_if(pending_.begin(), pending_.end(), [](const Pending& frame) {
            return !frame.purpose.repeated && !frame.purpose.preroll && !frame.purpose.refresh;
        });
        flow_.stats.failed.fetch_add(static_cast<std::uint64_t>(held) + (incoming_.discard_held() ? 1U : 0U),
                                     std::memory_order_relaxed);
        pending_.clear();
    }

private:
    struct Pending {
        Frame raw; ///< for the host, if the device fails
        Purpose purpose{};
    };

    /// All frames of the source are processed. The thread stays for edits of the last image, until stop.
    void ended() {
        {
            const std::scoped_lock lock(flow_.mutex); // a seek may have started already
            const bool over = flow_.source_done && flow_.frames.size_approx() == 0;
            if (over && !playback_.seek_waits)
                playback_.sought.reset();
            if (over && !flow_.finished.exchange(true) && flow_.status.state != RunState::failed)
                flow_.status.state = RunState::ended;
        }
        flow_.sleep(milliseconds(10));
    }

    /// A paused file waits; a paused live source continues, only the displayed image stays. Frames from
    /// before a pending seek use no steps: its target would replace them.
    bool file_is_paused() const {
        return playback_.paused && (playback_.steps <= 0 || playback_.seek_waits) && !flow_.live &&
               !incoming_.seek_pending();
    }
    /// While a live source is paused, its results go only to recorders.
    bool display_frozen() const { return playback_.paused && flow_.live; }

    bool submit_next() {
        const bool idle = executor_->in_flight() == 0;
        if (file_is_paused() || executor_->in_flight() >= executor_->capacity()) {
            if (idle)
                flow_.sleep(milliseconds(10));
            return false;
        }
        if (!executor_->wait_slot(idle ? milliseconds(20) : milliseconds(0))) {
            if (idle && flow_.stop)
                abort_when_stuck();
            return false;
        }
        stuck_since_.reset();
        if (!incoming_.find_next(idle ? milliseconds(20) : milliseconds(0)))
            return false;
        if (file_is_paused()) // paused during the wait: keep the frame
            return false;
        if (!refreshing())
            edited_ = apply_edits() || edited_; // edits made during the wait
        auto [frame, purpose] = incoming_.take();
        if (purpose.refresh && last_raw_) { // for sinks and histories it is the same frame
            frame.info().sequence = last_raw_.info().sequence;
            frame.info().capture_ns = last_raw_.info().capture_ns;
        }
        submit(frame, purpose);
        edited_ = edited_ && (display_frozen() || purpose.preroll); // the displayed image includes the edits
        return true;
    }

    /// At stop, gives recorders 10 s to release results, then discards the remaining frames.
    void abort_when_stuck() {
        const auto now = SteadyClock::now();
        stuck_since_ = stuck_since_.value_or(now);
        if (now - *stuck_since_ < std::chrono::seconds(10))
            return;
        while (incoming_.discard())
            failed(NoSlot().what());
    }

    /// After an edit, computes the displayed image again if no new frame will. Until that is known, the edit
    /// is remembered.
    void repeat_last() {
        if (executor_->in_flight() > 0 || !(playback_.paused || flow_.finished) || refreshing() || seeking())
            return;
        if (last_raw_ && (edited_ || playback_.paused) && lacks_history() && begin_refresh()) {
            edited_ = false;
            return;
        }
        if (!edited_)
            return;
        if (!last_raw_)
            edited_ = false;
        else if (executor_->wait_slot(milliseconds(20))) {
            edited_ = false;
            Frame again = last_raw_;
            submit(again, {.repeated = true});
        }
    }

    /// True if another frame is being sought, with the edit.
    bool seeking() const {
        const std::scoped_lock lock(flow_.mutex);
        return playback_.sought.has_value();
    }

    /// The displayed image of a file was made from fewer frames before it than a run would have, and not
    /// because a cold seek asked for it.
    bool lacks_history() const {
        const FrameInfo& info = last_raw_.info();
        const std::uint64_t wanted = edits_.applied()->chain->history();
        return wanted > 0 && info.position && !refresh_tried_ &&
               in_a_row_ < std::min(wanted, *info.position) + 1;
    }

    /// Asks the acquisition thread for the frames before the displayed one, and for that one again. False if
    /// the source cannot seek, or would then play on.
    bool begin_refresh() {
        const std::uint64_t position = *last_raw_.info().position;
        {
            const std::scoped_lock lock(flow_.mutex);
            const SourceInfo& source = flow_.status.source;
            if (!source.seekable || source.live || playback_.sought ||
                !(playback_.paused || position + 1 == source.length))
                return false;
            refresh_ = playback_.request(position, true, true);
        }
        refresh_tried_ = true;
        flow_.wake.notify_all();
        return true;
    }

    /// A refresh is under way. Edits wait until it is displayed, so that a dragged slider shows each of them
    /// that it can, complete.
    bool refreshing() {
        if (refresh_ == 0)
            return false;
        const std::scoped_lock lock(flow_.mutex);
        const bool superseded = playback_.epoch > refresh_ || playback_.seeks != refresh_;
        const bool refused = !playback_.seek_waits && playback_.epoch != refresh_;
        const bool missing =
            flow_.source_done && !playback_.seek_waits && incoming_.empty() && executor_->in_flight() == 0;
        if (superseded || refused || missing)
            refresh_ = 0;
        return refresh_ != 0;
    }

    /// Takes the frame. It is pending first, so that a later exception does not lose it uncounted.
    void submit(Frame& from, Purpose purpose) {
        pending_.push_back({from, purpose});
        Frame frame = std::move(from);
        if (!purpose.repeated)
            in_a_row_ = frame.info().discontinuity ? 1 : in_a_row_ + 1;
        messages_.input(frame);
        bool submitted = false;
        try {
            executor_->submit(std::move(frame), want_host_image(flow_), purpose.repeated);
            last_error_.clear();
            submitted = true;
        } catch (const UsageError& error) {
            last_raw_ = pending_.back().raw; // a later edit may make it work
            pending_.pop_back();
            failed(error.what(), purpose);
        } catch (const DeviceError& error) {
            device_failed(error.what());
        } catch (const std::exception& error) { // the executor still works
            pending_.pop_back();
            failed(sentence_of(error), purpose);
        }
        if (submitted && !regions_checked_)
            check_regions(edits_.applied()->regions);
    }

    void collect(bool wait) {
        try {
            while (std::optional<Result> result = executor_->collect(wait)) {
                wait = false;
                const Purpose purpose = pending_.front().purpose;
                result->repeated = purpose.repeated || purpose.refresh;
                result->seek = purpose.epoch;
                if (purpose.first_of_seek != 0 &&
                    !purpose.refresh) // also after frames that only filled windows
                    result->info.discontinuity = true;
                result->counts = counts_of(result->info, result->counts);
                pending_.pop_front();
                if (!purpose.preroll && !result->repeated)
                    refresh_tried_ = purpose.first_of_seek != 0; // a seek got the history that it requested
                if (!purpose.preroll)
                    deliver(*result);
                seek_finished(purpose);
            }
        } catch (const LostFrame& error) {
            const Purpose purpose = pending_.front().purpose;
            pending_.pop_front();
            failed(error.what(), purpose);
        } catch (const DeviceError& error) {
            device_failed(error.what());
        } catch (const std::exception& error) {
            if (executor_->in_flight() > 0) // the failed frame is unknown
                throw;
            if (pending_.empty())
                flow_.log(Message::Level::error, sentence_of(error));
            for (const Pending& lost : std::exchange(pending_, {}))
                failed(sentence_of(error), lost.purpose);
        }
    }

    /// The frame sought last is complete or will not come.
    void seek_finished(const Purpose& purpose) {
        if (purpose.first_of_seek == 0)
            return;
        refresh_ = 0;
        const std::scoped_lock lock(flow_.mutex);
        if (!playback_.seek_waits && purpose.first_of_seek == playback_.epoch)
            playback_.sought.reset();
    }

    /// Takes the handles of the result.
    void deliver(Result& result) {
        std::optional<Result> named = named_result(result, result.chain->shown());
        Result& shown = named ? *named : result;
        messages_.regions(result);
        if (!result.repeated) {
            flow_.stats.record(result, playback_.timed(result));
            messages_.result(result);
            push_to_sinks(flow_, result, shown);
        }
        if (result.repeated || !display_frozen()) {
            last_raw_ = result.raw;
            flow_.mailbox.post(std::move(shown));
        }
    }

    /// Returns whether anything changed.
    bool apply_edits() {
        bool any = false;
        while (const std::shared_ptr<const EditState> next = edits_.take())
            any = apply(next) || any;
        return any;
    }

    bool apply(const std::shared_ptr<const EditState>& next) {
        const std::shared_ptr<const EditState> before = edits_.applied();
        EditState good = *before;
        const auto taken = [&](std::uint64_t EditState::*part, bool of_regions, const auto& apply) {
            const std::uint64_t edit = (*next).*part;
            try {
                apply(std::max(good.version(), edit));
            } catch (const std::exception& error) { // nothing was changed
                refusals_.push_back({edit, sentence_of(error), of_regions});
                return false;
            }
            good.*part = edit;
            return true;
        };
        if (next->chain != before->chain &&
            taken(&EditState::chain_version, false,
                  [&](std::uint64_t version) { set_chain(next->chain, version); })) {
            good.chain = next->chain;
            messages_.chain(next->chain);
            if (!keeps_history(*before->chain, *next->chain))
                in_a_row_ = 0;
            refresh_tried_ = false;
        }
        if (next->regions_version != before->regions_version &&
            taken(&EditState::regions_version, true,
                  [&](std::uint64_t version) { apply_regions(next->regions, version); }))
            good.regions = next->regions;
        const bool all = refusals_.empty(), any = good.version() != before->version();
        edits_.set_applied(all ? next : any ? std::make_shared<const EditState>(good) : before);
        for (const RefusedEdit& refusal : std::exchange(refusals_, {}))
            if (edits_.refuse(refusal, next))
                flow_.log(Message::Level::error, refusal.why);
        return any;
    }

    void apply_regions(const std::shared_ptr<const RegionOutlines>& regions, std::uint64_t version) {
        check_regions(regions);
        if (!set_regions(regions, version))
            set_regions(regions, version); // on the host
    }

    /// False if the device failed and the host has taken over.
    bool set_regions(const std::shared_ptr<const RegionOutlines>& regions, std::uint64_t version) {
        try {
            executor_->set_regions(regions, version);
            return true;
        } catch (const DeviceError& error) {
            device_failed(error.what());
            return false;
        }
    }

    /// Refuses regions outside the image: when they are set or, before the size is known, with the first
    /// image.
    void check_regions(const std::shared_ptr<const RegionOutlines>& regions) {
        const auto picture = regions ? output() : std::nullopt;
        if (picture)
            refuse_outside(*place_regions(regions, *picture, 0));
        regions_checked_ = picture || !regions;
    }

    /// Shape of the results. With several GPUs this waits for one, which may report its failure.
    std::optional<Shape> output() {
        try {
            return executor_->output();
        } catch (const DeviceError& error) {
            device_failed(error.what());
            return executor_->output();
        }
    }

    /// On a device error the host takes over the chain; frames in flight still use the old chain.
    void set_chain(const std::shared_ptr<const Chain>& chain, std::uint64_t version) {
        try {
            executor_->set_chain(chain, version);
        } catch (const DeviceError& error) {
            device_failed(error.what());
            executor_->set_chain(chain, version);
        }
    }

    /// Counts the frame as lost; repeated messages are logged once.
    void failed(const std::string& why, Purpose purpose = {}) {
        if (!purpose.repeated && !purpose.preroll && !purpose.refresh) // hidden frames are counted elsewhere
            flow_.stats.failed.fetch_add(1, std::memory_order_relaxed);
        if (purpose.first_of_seek != 0)
            flow_.seek_failed(purpose.first_of_seek, why);
        seek_finished(purpose);
        if (last_error_ != why)
            flow_.log(Message::Level::error, why);
        last_error_ = why;
    }

    /// Moves the run to the host after a device error; frames in flight are computed again there.
    void device_failed(const std::string& why) {
        flow_.log(Message::Level::error,
                  "The GPU failed (" + why + "). The run continues on the CPU" +
                      (edits_.applied()->chain->stateful() ? "; the windows of stages start again." : "."));
        executor_ = make_host_executor(flow_.options.threads);
        {
            const std::scoped_lock lock(flow_.mutex);
            flow_.backend = {executor_->backend(), executor_->device_name(), "The GPU failed: " + why};
            flow_.slot_memory = executor_->slot_memory();
        }
        const std::shared_ptr<const EditState> now = edits_.applied();
        executor_->set_regions(now->regions, now->version());
        executor_->set_chain(now->chain, now->version());
        for (Pending& again : std::exchange(pending_, {})) {
            submit(again.raw, again.purpose);
            collect(true);
        }
    }

    Flow& flow_;
    Edits& edits_;
    Playback& playback_;
    std::unique_ptr<Executor> executor_;
    std::deque<Pending> pending_;
    Incoming incoming_;
    Frame last_raw_; ///< of the displayed image
    bool edited_ = false;
    std::uint64_t in_a_row_ = 0; ///< frames since the stages' histories began
    std::uint64_t refresh_ = 0;  ///< number of the refresh under way; 0: none
    bool refresh_tried_ = false; ///< for the displayed frame with this chain
    std::optional<SteadyClock::time_point> stuck_since_;
    std::vector<RefusedEdit> refusals_; ///< of apply_edits()
    std::string last_error_;
    bool regions_checked_; ///< false: regions set before the size was known are not checked yet
    RunMessages messages_;
};

} // namespace

void process_frames(Flow& flow, std::unique_ptr<Executor> executor) {
    const WatchWork watch([&flow](std::string_view, double) { return !flow.stop; });
    std::optional<Processor> processor;
    try {
        processor.emplace(flow, std::move(executor)).run();
    } catch (const std::exception& error) { // no exception may leave a thread
        {
            const std::scoped_lock lock(flow.mutex);
            flow.computes_no_more = true;
            flow.status.source.seekable = false; // no frame would be computed after a seek
            flow.playback.sought.reset();
        }
        if (processor)
            processor->fail_pending();
        flow.set_state(RunState::failed, sentence_of(error));
        flow.log(Message::Level::error, sentence_of(error));
    }
    flow.finished = true;
}

} // namespace specklescope
