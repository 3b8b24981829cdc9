#include "pipeline/pipeline.hpp"

#include "base/error.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "pipeline/source.hpp"
#include "pipeline/threads/flow.hpp"

#include <array>
#include <new>
#include <utility>

namespace specklescope {

const char* to_string(RunState state) {
    static constexpr std::array kNames = {"idle", "running", "paused", "reconnecting", "ended", "failed"};
    return kNames.at(static_cast<std::size_t>(state));
}

struct Pipeline::Impl : Flow {
    using Flow::Flow;
    enum class Life : std::uint8_t { stopped, changing, started };
    void change(Life to) {
        const std::scoped_lock lock(mutex);
        life = to;
    }
    [[noreturn]] static void refuse_sink() {
        throw RunError(
            "Recording is not possible while the source is being opened or closed. Wait for its image.");
    }
    bool is(Life what) const {
        const std::scoped_lock lock(mutex);
        return life == what;
    }

    /// Sets the quantity of the frames; throws UsageError if the chain cannot use it. `unprocessed`: removes
    /// the stages.
    void takes(const Quantity& quantity, bool unprocessed = false, const SourceInfo* opened = nullptr) {
        edits.publish([&](EditState& next) {
            Chain on = *next.chain;
            on.set_input(quantity);
            if (unprocessed)
                on.stages().clear();
            if (opened && options.adapt)
                options.adapt(on, *opened);
            (void)settled(on);
            next.chain = std::make_shared<const Chain>(std::move(on));
        });
        edits.apply_all();
    }

    std::mutex turns; ///< serialises start() and stop(); guards the threads
    std::thread acquisition, processing;
    bool opened_before = false;
    Life life = Life::stopped; ///< requires the flow's mutex
};

Pipeline::Pipeline(std::unique_ptr<Source> source, Chain chain, PipelineOptions options)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(chain), std::move(options))) {
    impl_->source_params = impl_->source->params();
}

Pipeline::~Pipeline() { stop(); }

void Pipeline::start() {
    Impl& flow = *impl_;
    const std::scoped_lock turn(flow.turns);
    if (flow.is(Impl::Life::started))
        return;
    if (!flow.source->may_hold_results())
        flow.takes({}); // report a useless chain before a camera is opened
    flow.change(Impl::Life::changing);
    flow.stats.start();
    flow.mailbox.clear();
    flow.stop = flow.source_done = flow.finished = flow.computes_no_more = false;
    {
        const std::scoped_lock lock(flow.mutex);
        flow.playback.restart();
    }
    try {
        SourceInfo info = flow.source->open();
        const bool again = std::exchange(flow.opened_before, true);
        flow.takes(info.quantity, !again && flow.options.colour_unprocessed && info.shape.channels == 3,
                   &info);
        const std::uint64_t first = begin_at(*flow.source, flow.options.from, flow.options.from_s, info);
        if (flow.options.loop) {
            flow.playback.set_loop(LoopRange{.first = first});
            info.frames = 0; // a live source has no end
        }
        std::string note;
        std::unique_ptr<Executor> executor =
            flow.options.executor ? flow.options.executor(&note) : make_host_executor(flow.options.threads);
        const std::shared_ptr<const EditState> wanted = flow.edits.applied();
        executor->set_chain(wanted->chain, wanted->version());
        if (wanted->regions)
            executor->set_regions(wanted->regions, wanted->version());
        // Do slow first-time work before the source's clock starts.
        const bool shape_known = info.shape.width > 0; // otherwise known with the first frame
        if (shape_known)
            executor->prepare(info.shape, wants_host(flow));
        if (const auto picture = executor->output(); picture && wanted->regions)
            refuse_outside(*place_regions(wanted->regions, *picture, wanted->version()));
        {
            const std::scoped_lock lock(flow.mutex);
            flow.status = {RunState::running, "", {}};
            flow.set_source(info);
            flow.playback.begins_at = first;
            flow.sinks.dropped_by_closed = 0;
            flow.source_params = flow.source->params();
            flow.backend = {executor->backend(), executor->device_name(), note};
            flow.slot_memory = executor->slot_memory();
        }
        if (shape_known)
            make_ring(flow, info.shape, info.lends);
        open_sinks(flow, stream());
        flow.processing = std::thread(
            [&flow, made = std::move(executor)]() mutable { process_frames(flow, std::move(made)); });
        flow.acquisition = std::thread([&flow] { acquire_frames(flow); });
    } catch (...) {
        flow.source->close();
        flow.stop = flow.source_done = true;
        if (flow.processing.joinable())
            flow.processing.join();
        close_sinks(flow);
        const std::scoped_lock lock(flow.mutex);
        flow.sinks.to_open.clear(); // a retry adds its own sinks
        flow.ring.reset();
        flow.life = Impl::Life::stopped;
        throw;
    }
    flow.change(Impl::Life::started);
}

void Pipeline::stop() {
    Impl& flow = *impl_;
    const std::scoped_lock turn(flow.turns);
    {
        const std::scoped_lock lock(flow.mutex);
        if (flow.life == Impl::Life::stopped)
            return;
        flow.life = Impl::Life::changing; // from here on add_sink() throws
        flow.stop = true;
        for (const auto& sink : flow.sinks.open)
            sink->hurry();
    }
    flow.wake.notify_all();
    flow.acquisition.join();
    flow.source->close();
    flow.processing.join(); // processes the queued frames
    close_sinks(flow);
    Queued rest;
    std::uint64_t left = 0; // by a paused file, or after processing failed
    for (; flow.frames.try_dequeue(rest); ++left)
        rest.frame.reset();
    const std::scoped_lock lock(flow.mutex);
    if (flow.status.state == RunState::failed)
        flow.stats.failed.fetch_add(left, std::memory_order_relaxed);
    flow.ring.reset();
    if (flow.status.state == RunState::running || flow.status.state == RunState::reconnecting)
        flow.status = {RunState::idle, "", flow.status.source};
    flow.life = Impl::Life::stopped;
}

bool Pipeline::started() const { return impl_->is(Impl::Life::started); }

bool Pipeline::finished() const { return impl_->finished; }

std::uint64_t Pipeline::edit(const std::function<void(Chain&)>& change) { return impl_->edits.edit(change); }

std::uint64_t Pipeline::edit_all(std::size_t stage, const NamedValues& values) {
    return edit([&](Chain& chain) {
        if (stage >= chain.stages().size())
            throw UsageError("There is no stage number " + std::to_string(stage + 1) +
                             " in the chain; it has " + std::to_string(chain.stages().size()) + ".");
        for (const auto& [name, value] : values)
            chain.stages()[stage].params.set(name, value);
    });
}

std::uint64_t Pipeline::set_chain(Chain chain) {
    return edit([&](Chain& next) {
        chain.keep_context(next);
        next = std::move(chain);
    });
}

std::uint64_t Pipeline::set_channel(GreyChannel channel) {
    return edit([&](Chain& chain) { chain.set_channel(channel); });
}

std::uint64_t Pipeline::show_output(const std::string& name) {
    return edit([&](Chain& chain) {
        chain.set_shown(name);
        if (chain.displayed() != name)
            throw UsageError("The chain gives no image '" + one_line(name) + "'. Add also=" + one_line(name) +
                             " to a stage that has it.");
    });
}

std::uint64_t Pipeline::set_regions(std::shared_ptr<const RegionOutlines> regions) {
    std::uint64_t version = 0;
    impl_->edits.publish([&](EditState& next) {
        next.regions = std::move(regions);
        version = next.regions_version = impl_->edits.next_version();
    });
    return version;
}

std::uint64_t Pipeline::effective(std::uint64_t version) const { return impl_->edits.effective(version); }

std::uint64_t Pipeline::version() const { return impl_->edits.version(); }

std::vector<RefusedEdit> Pipeline::refused(std::uint64_t later_than) const {
    return impl_->edits.refused(later_than);
}

void Pipeline::edit_source(const std::string& name, const ParamValue& value) {
    {
        const std::scoped_lock lock(impl_->mutex);
        if (impl_->source_params.has_table())
            impl_->source_params.set(name, value);
        if (!impl_->source_edits.enqueue({name, value}))
            throw std::bad_alloc();
    }
    impl_->wake.notify_all();
}

Params Pipeline::source_params() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->source_params;
}

void Pipeline::pause(bool on) {
    impl_->playback.steps = 0;
    if (!on && impl_->playback.paused)
        impl_->playback.resumed = SteadyClock::now();
    impl_->playback.paused = on;
}

void Pipeline::step() {
    if (impl_->playback.paused)
        ++impl_->playback.steps;
}

bool Pipeline::paused() const { return impl_->playback.paused; }

std::uint64_t Pipeline::seek(std::uint64_t frame, bool warm) {
    impl_->playback.steps = 0;
    const bool over = impl_->finished && !status().source.seekable; // the threads no longer handle seeks
    std::uint64_t number = 0;
    {
        const std::scoped_lock lock(impl_->mutex);
        number = over ? ++impl_->playback.seeks : impl_->playback.request(frame, warm);
    }
    if (over) {
        const std::string why = "Frame " + std::to_string(frame) + " of " + status().source.name +
                                " cannot be sought any more; open it again.";
        impl_->log(Message::Level::error, why);
        impl_->seek_failed(number, why);
    }
    impl_->wake.notify_all();
    return number;
}

std::uint64_t Pipeline::last_seek() const { return impl_->playback.epoch; }

SeekFailure Pipeline::seek_failure() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->playback.failure;
}

std::optional<std::uint64_t> Pipeline::sought() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->playback.sought;
}

void Pipeline::set_loop(std::optional<LoopRange> range) {
    if (range && range->last && *range->last < range->first)
        throw UsageError("A loop that begins at frame " + std::to_string(range->first) +
                         " cannot end at frame " + std::to_string(*range->last) +
                         "; allowed: " + std::to_string(range->first) + " and later.");
    {
        const std::scoped_lock lock(impl_->mutex);
        impl_->playback.set_loop(range);
    }
    impl_->wake.notify_all();
    if (source_params().has_table() && source_params().table().find("loop"))
        edit_source("loop", false); // two loops would count rounds twice
}

std::optional<LoopRange> Pipeline::loop() const { return impl_->looped(); }

void Pipeline::add_sink(const std::shared_ptr<Sink>& sink) {
    {
        const std::scoped_lock lock(impl_->mutex);
        if (impl_->life == Impl::Life::stopped)
            return impl_->sinks.to_open.push_back(sink);
        if (impl_->life == Impl::Life::changing)
            Impl::refuse_sink();
    }
    sink->open(stream()); // without the mutex: a disk may be slow
    {
        const std::scoped_lock lock(impl_->mutex);
        if (impl_->life == Impl::Life::started)
            return impl_->sinks.add({sink});
    }
    sink->close();
    Impl::refuse_sink();
}

void Pipeline::remove_sink(const std::shared_ptr<Sink>& sink) {
    {
        const std::scoped_lock lock(impl_->mutex);
        std::erase(impl_->sinks.to_open, sink);
        if (!impl_->sinks.remove(sink))
            return;
    }
    sink->hurry();
    { const std::scoped_lock delivered(impl_->sinks.delivery); } // wait for a push in progress
    impl_->close_sink(*sink);
}

std::vector<SinkStatus> Pipeline::sinks() const {
    const std::scoped_lock lock(impl_->mutex);
    std::vector<SinkStatus> list;
    for (const auto& sink : impl_->sinks.open)
        list.push_back(sink->status());
    return list;
}

Mailbox& Pipeline::mailbox() { return impl_->mailbox; }
void Pipeline::viewer_wants_host(bool wants) { impl_->viewer_wants_host = wants; }

void Pipeline::displayed(const Result& result, std::string_view path, bool finished) {
    const bool timed = finished && impl_->playback.timed(result);
    impl_->stats.drawn(path, timed ? std::optional(result.info.arrival) : std::nullopt);
}

std::shared_ptr<const Chain> Pipeline::chain() const { return impl_->edits.newest()->chain; }

std::shared_ptr<const RegionOutlines> Pipeline::regions() const { return impl_->edits.newest()->regions; }

StatsSnapshot Pipeline::stats() const {
    const Impl& flow = *impl_;
    StatsSnapshot s = flow.stats.snapshot();
    s.frames.not_shown = flow.mailbox.replaced();
    s.queue.depth = static_cast<int>(flow.frames.size_approx());
    s.queue.slots = flow.slots;
    const StreamInfo about = stream();
    const std::shared_ptr<const EditState> applied = flow.edits.applied();
    s.scale_origin = scale_origin(about);
    s.time_origin = about.source.time_origin;
    const std::scoped_lock lock(flow.mutex);
    s.um_per_px = um_per_px(about, applied->chain.get());
    s.queue.slots_free = flow.ring ? flow.ring->free_slots() : 0;
    s.backend = flow.backend;
    s.source = flow.options.source_text.empty() ? flow.status.source.name : flow.options.source_text;
    s.clock_name = flow.status.source.clock;
    s.chain = to_string(*applied->chain);
    s.drops.recorder = flow.sinks.dropped_by_closed;
    for (const auto& sink : flow.sinks.open)
        s.drops.recorder += sink->status().dropped;
    return s;
}

std::optional<RateMeter::Newest> Pipeline::newest_result() const { return impl_->stats.processing.newest(); }

PipelineStatus Pipeline::status() const {
    const std::scoped_lock lock(impl_->mutex);
    PipelineStatus status = impl_->status;
    if (status.state == RunState::running && impl_->playback.paused)
        status.state = RunState::paused;
    return status;
}

StreamInfo Pipeline::stream() const {
    const double um = um_per_source_px();
    const std::scoped_lock lock(impl_->mutex);
    return {impl_->status.source, impl_->options.source_text,
            impl_->backend.name == "cpu" ? "cpu" : impl_->backend.name + ": " + impl_->backend.device, um,
            impl_->slots};
}

void Pipeline::set_um_per_source_px(double um) { impl_->set_um_of_raw(um); }
double Pipeline::um_per_source_px() const { return impl_->um_of_raw(); }

std::vector<Message> Pipeline::take_messages() {
    const std::scoped_lock lock(impl_->mutex);
    std::vector<Message> taken(impl_->messages.begin(), impl_->messages.end());
    impl_->messages.clear();
    return taken;
}

} // namespace specklescope
