#include "library/stream.hpp"
#include "config/start.hpp"

#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "recording/recorder.hpp"
#include "recording/traces.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

namespace specklescope::library {

using std::chrono::milliseconds;

namespace {

/// A caller may still hold one frame when it fetches the next.
constexpr int kOwnSlots = 2;

[[noreturn]] void refuse_stopped(const std::string& path) {
    throw UsageError("The stream was stopped, and nothing comes that " + path +
                     " could hold; open it again to record.");
}

void throw_failed(const std::vector<std::shared_ptr<Sink>>& recorders) {
    for (const auto& recorder : recorders)
        if (const SinkStatus status = recorder->status(); !status.error.empty())
            throw RunError(status.error);
}

/// Starts a recording once all earlier edits are in effect. Results of the chain or the regions before them
/// would begin a file of another quantity or size.
class AfterEdits final : public Sink {
public:
    /// The pipeline must outlive this object.
    AfterEdits(std::shared_ptr<Sink> sink, const Pipeline& pipeline)
        : sink_(std::move(sink)), pipeline_(pipeline), edit_(pipeline.version()) {}

    void open(const StreamInfo& stream) override { sink_->open(stream); }
    void push(const Result& result, bool may_wait) override {
        begun_ = begun_ || result.info.version >= pipeline_.effective(edit_);
        if (begun_)
            sink_->push(result, may_wait);
    }
    void mark(const EventMark& event) override { sink_->mark(event); }
    void hurry() noexcept override { sink_->hurry(); }
    void close() noexcept override { sink_->close(); }
    bool wants_host_image() const override { return sink_->wants_host_image(); }
    bool records() const override { return sink_->records(); }
    SinkStatus status() const override { return sink_->status(); }

private:
    const std::shared_ptr<Sink> sink_;
    const Pipeline& pipeline_;
    const std::uint64_t edit_;
    bool begun_ = false; ///< used by the processing thread
};

Frame copied(const Frame& frame) {
    if (!frame)
        return {};
    Frame copy = FrameRing(frame.shape(), 1, host_memory()).try_acquire();
    copy_pixels(frame.host(), copy.host());
    copy.info() = frame.info();
    return copy;
}

} // namespace

void Waiting::push(const Result& result, bool may_wait) {
    std::unique_lock lock(mutex_);
    if (may_wait)
        changed_.wait(lock, [&] {
            return ended_ || unlimited_ > 0 || result.seek < from_ || results_.size() < capacity_;
        });
    if (ended_ || result.seek < from_ || (paused_ && !may_wait))
        return;
    if (!may_wait && results_.size() >= capacity_) {
        results_.pop_front();
        ++late_;
    }
    results_.push_back(result);
    lock.unlock();
    changed_.notify_all();
}

SinkStatus Waiting::status() const {
    const std::scoped_lock lock(mutex_);
    SinkStatus status;
    status.written = given_;
    status.dropped = late_;
    status.queued = results_.size();
    status.closed = ended_;
    return status;
}

void Waiting::pause(bool on) {
    const std::scoped_lock lock(mutex_);
    paused_ = on;
}

void Waiting::set_capacity(int slots) {
    const std::scoped_lock lock(mutex_);
    capacity_ = static_cast<std::size_t>(std::clamp(slots / 2, 2, 64));
}

bool Waiting::wait(milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return ended_ || !results_.empty(); });
    return !results_.empty();
}

std::optional<Result> Waiting::take(milliseconds timeout) {
    std::optional<Result> result;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, timeout, [&] { return ended_ || !results_.empty(); });
        if (results_.empty())
            return result;
        result = std::move(results_.front());
        results_.pop_front();
        ++given_;
    }
    changed_.notify_all();
    return result;
}

void Waiting::discard_before(std::uint64_t seek) {
    {
        const std::scoped_lock lock(mutex_);
        from_ = seek;
        while (!results_.empty() && results_.front().seek < seek) // results are in order
            results_.pop_front();
    }
    changed_.notify_all();
}

void Waiting::lift_limit(bool open) {
    {
        const std::scoped_lock lock(mutex_);
        unlimited_ += open ? 1 : -1;
    }
    changed_.notify_all();
}

void Waiting::end() noexcept {
    {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        results_.clear();
    }
    changed_.notify_all();
}

FrameObject::FrameObject(Result result, SlotsOut out)
    : result_(std::move(result)), also_(results_also(result_)) {
    for (Result& one : also_) {
        one.raw.reset();
        one.device_image.reset();
    }
    if (on_device()) {
        result_.memory->give();
        result_.image.reset(); // downloaded only for a recorder
    } else {
        result_.device_image.reset();
    }
    if (out->fetch_add(1) < kOwnSlots) {
        out_ = std::move(out);
        return;
    }
    out->fetch_sub(1);
    const bool same = result_.image && result_.raw && result_.image.host().data == result_.raw.host().data;
    result_.raw = copied(result_.raw);
    result_.image = same ? result_.raw : copied(result_.image);
    result_.also = without_pixels(result_.also); // names and facts stay
    for (Result& one : also_) {
        one.also = result_.also;
        one.image = copied(one.image);
    }
}

FrameObject::~FrameObject() {
    result_ = Result();
    also_.clear();
    if (out_)
        out_->fetch_sub(1);
}

ResultMemory& FrameObject::memory() const {
    if (!on_device())
        throw UsageError(
            "This result is in host memory; only streams opened with memory=device have results on a GPU.");
    return *result_.memory;
}

StreamObject::StreamObject(const char* source, Chain chain, Settings settings, const StreamOptions& own,
                           const Watcher& watcher)
    : settings_(std::move(settings)), on_device_(own.memory == StreamOptions::Memory::device),
      watcher_(watcher), waiting_(std::make_shared<Waiting>(!on_device_)) {
    settings_.source = SourceArgument(source);
    settings_.chain = std::move(chain);
    ExecutorChoice callers;
    callers.guest = true;
    callers.device_results = on_device_;
    pipeline_ = make_pipeline(settings_, callers);
    pipeline_->viewer_wants_host(false);
    pipeline_->add_sink(waiting_);
    pipeline_->pause(true); // recorders may be added before a file's first frame
    pipeline_->start();
    waiting_->set_capacity(pipeline_->stats().queue.slots);
}

StreamObject::~StreamObject() {
    waiting_->end();
    pipeline_->stop();
}

std::shared_ptr<FrameObject> StreamObject::next(double seconds) {
    if (std::isnan(seconds))
        throw UsageError(
            "The time to wait is not a number; allowed: seconds, or a negative number for ever.");
    {
        const std::scoped_lock lock(pause_mutex_);
        if (!std::exchange(begun_, true))
            pipeline_->pause(paused_);
    }
    constexpr double kLongest = 1e6;
    const auto end =
        SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                 std::chrono::duration<double>(std::clamp(seconds, -1.0, kLongest)));
    constexpr milliseconds kLook(20); // interval for checking the end of the run
    while (!stopped_) {
        // Check before reading results: after end of stream a seek restarts the pipeline asynchronously.
        const bool finished = !pipeline_->sought() && pipeline_->finished();
        const auto left = std::chrono::duration_cast<milliseconds>(end - SteadyClock::now());
        const milliseconds wait = finished || left.count() < 0
                                      ? (seconds < 0 && !finished ? kLook : milliseconds(0))
                                      : std::min(left, kLook);
        if (std::optional<Result> result = take(wait))
            return given(std::move(*result));
        if (on_device_)
            throw_no_memory();
        if (finished)
            ended();
        if (seconds >= 0 && SteadyClock::now() >= end)
            throw StatusError(SPECKLESCOPE_TIMEOUT, "No frame came in time from " + settings_.source.shown() +
                                                        "; ask again, or wait longer.");
    }
    throw StatusError(SPECKLESCOPE_END, "The stream was stopped; open it again for more frames.");
}

std::shared_ptr<FrameObject> StreamObject::given(Result result) {
    if (on_device_ && !result.memory) {
        std::string why = pipeline_->stats().backend.note;
        while (why.ends_with('.'))
            why.pop_back();
        throw RunError("The run continues on the CPU, which has no results for memory=device (" + why +
                       "). Open the stream again, with memory=host if there is no GPU.");
    }
    {
        const std::scoped_lock lock(recorders_mutex_);
        given_ = TraceMoment{0, result.info.capture_ns, result.info.sequence, result.info.has_time()};
    }
    return std::make_shared<FrameObject>(std::move(result), out_);
}

/// A refused seek changes nothing: until it has taken effect, pending results are kept and not returned.
std::optional<Result> StreamObject::take(milliseconds patience) {
    if (seek_ == 0)
        return waiting_->take(patience);
    if (pipeline_->last_seek() < seek_) {
        throw_failed_seek();
        std::this_thread::sleep_for(std::min(patience, milliseconds(1)));
        return std::nullopt;
    }
    waiting_->discard_before(seek_);
    const bool any = waiting_->wait(patience);
    throw_failed_seek(); // reported before the frames that follow
    if (!any)
        return std::nullopt;
    seek_ = 0;
    return waiting_->take(milliseconds(0));
}

void StreamObject::throw_failed_seek() {
    if (const SeekFailure failure = pipeline_->seek_failure(); failure.seek == seek_) {
        seek_ = 0;
        throw RunError(failure.why);
    }
}

void StreamObject::ended() {
    const PipelineStatus status = pipeline_->status();
    if (!std::exchange(failure_told_, true)) {
        if (status.state == RunState::failed)
            throw RunError(status.message);
        if (const std::uint64_t failed = pipeline_->stats().drops.failed; failed > 0) {
            take_messages();
            const std::scoped_lock lock(messages_mutex_);
            throw RunError(std::to_string(failed) + " frames could not be computed: " + last_error_);
        }
    }
    throw StatusError(SPECKLESCOPE_END, "The source has given all its frames; open it again to begin anew.");
}

/// Only the caller can free memory; the stream would wait forever.
void StreamObject::throw_no_memory() {
    const std::uint64_t failed = pipeline_->stats().drops.failed;
    if (std::exchange(failed_seen_, failed) == failed)
        return;
    take_messages();
    const std::scoped_lock lock(messages_mutex_);
    if (last_error_ == kNoRoomOnDevice)
        throw RunError(kNoRoomOnDevice);
}

const SourceInfo& StreamObject::source() {
    source_ = pipeline_->status().source;
    return source_;
}

void StreamObject::record(const std::string& path, int what) {
    if (what < SPECKLESCOPE_RESULTS || what > SPECKLESCOPE_MASK)
        throw UsageError("What is to be recorded is " + std::to_string(what) +
                         "; allowed: 0 (results), 1 (raw frames), 2 (mask of saturated samples).");
    RecordOptions options;
    options.path = path;
    options.what = static_cast<RecordWhat>(what);
    options.mapping = settings_.view.as<ViewSettings>().mapping;
    const std::shared_ptr<Sink> recorder = make_recorder(options);
    check_writable(path);
    const bool raw = what != SPECKLESCOPE_RESULTS; // a mask belongs to the raw frames
    add(raw ? recorder : std::make_shared<AfterEdits>(recorder, *pipeline_), path);
}

void StreamObject::write_traces(const std::string& path) {
    if (regions().empty())
        throw UsageError("There are no regions whose traces " + path +
                         " could hold; give some with the stream's settings, or set them.");
    check_traces_file(path);
    add(std::make_shared<AfterEdits>(make_traces(path), *pipeline_), path);
}

void StreamObject::add(const std::shared_ptr<Sink>& sink, const std::string& path) {
    if (stopped_)
        refuse_stopped(path);
    pipeline_->add_sink(sink);
    {
        const std::scoped_lock lock(recorders_mutex_);
        recorders_.push_back(sink);
    }
    if (stopped_) { // stopped in the meantime, perhaps without this sink
        pipeline_->remove_sink(sink);
        refuse_stopped(path);
    }
}

void StreamObject::finish() {
    std::vector<std::shared_ptr<Sink>> open;
    {
        const std::scoped_lock lock(recorders_mutex_);
        open.swap(recorders_);
    }
    waiting_->lift_limit(true); // closing a recorder would otherwise deadlock on a full queue
    for (const auto& recorder : open)
        pipeline_->remove_sink(recorder);
    waiting_->lift_limit(false);
    throw_failed(open);
}

void StreamObject::pause(bool on) {
    const std::scoped_lock lock(pause_mutex_);
    paused_ = on;
    waiting_->pause(on);
    if (begun_)
        pipeline_->pause(on);
}

void StreamObject::seek(std::uint64_t frame, bool warm) {
    if (stopped_)
        throw UsageError("The stream was stopped; open it again, and seek in that.");
    const SourceInfo source = pipeline_->status().source;
    if (!source.seekable)
        throw UsageError("No frame can be chosen in " + settings_.source.shown() +
                         "; only files whose frames are numbered can be sought.");
    if (source.length > 0 && frame >= source.length)
        refuse_frame(source.name, frame, source.length);
    seek_ = pipeline_->seek(frame, warm);
}

std::uint64_t StreamObject::mark(const char* label) {
    const std::scoped_lock lock(recorders_mutex_);
    if (!given_)
        throw UsageError("An event belongs to a frame, and none was fetched yet; fetch one.");
    const EventMark event = events_.mark(*given_, label ? label : "").mark;
    for (const auto& recorder : recorders_)
        recorder->mark(event);
    return event.number;
}

void StreamObject::stop() {
    stopped_ = true;
    waiting_->end();
    pipeline_->stop();
    const std::scoped_lock lock(recorders_mutex_);
    throw_failed(recorders_);
}

void StreamObject::end() noexcept {
    try {
        stop();
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): no caller takes the error
    }
}

void StreamObject::set_source(const char* name, const char* value) {
    Params options = pipeline_->source_params();
    if (!options.has_table())
        throw UsageError("The source " + settings_.source.shown() + " has no options; set none.");
    options.set_text(name, value);
    pipeline_->edit_source(name, options.get(name));
}

/// The stage is looked up in the newest chain, while no other thread edits it.
void StreamObject::set(const StagePlace& stage, const Values& values) {
    if (values.empty()) {
        (void)place_of(*pipeline_->chain(), stage);
        return;
    }
    pipeline_->edit([&](Chain& next) { set_values(next.stages()[place_of(next, stage)], values); });
}

void StreamObject::set_regions(std::vector<Region> regions) {
    const bool medians = settings_.program.as<ProgramSettings>().medians;
    pipeline_->set_regions(regions.empty() ? nullptr : make_outlines(std::move(regions), medians));
}

std::vector<Region> StreamObject::regions() const {
    const auto outlines = pipeline_->regions();
    return outlines ? regions_of(*outlines) : std::vector<Region>();
}

void StreamObject::replace(Chain chain) {
    chain.set_input(pipeline_->status().source.quantity);
    check_fit(chain); // without a lock: calls the caller's goes_on
    pipeline_->set_chain(std::move(chain));
}

/// A chain that cannot run would leave the old one in effect without an error.
void StreamObject::check_fit(Chain chain) const {
    chain.set_channel(settings_.program.as<ProgramSettings>().channel);
    (void)settled(chain);
    const Shape frames = pipeline_->status().source.shape;
    if (frames.width < 1 || frames.height < 1)
        return; // the shape is not known yet
    const Asking asking(watcher_);
    check_runs(chain, frames);
}

void StreamObject::take_messages() {
    const std::vector<Message> fresh = pipeline_->take_messages();
    const std::scoped_lock lock(messages_mutex_);
    for (const Message& message : fresh) {
        messages_.push_back(one_line(message.text) + "\n");
        if (message.level == Message::Level::error)
            last_error_ = one_line(message.text);
    }
    for (constexpr std::size_t kKept = 1000; messages_.size() > kKept; ++unread_)
        messages_.pop_front();
}

void StreamObject::write_messages(char* text, std::size_t size, std::size_t* needed) {
    take_messages();
    const std::scoped_lock lock(messages_mutex_);
    std::string lines;
    if (unread_ > 0)
        lines = std::to_string(unread_) + " earlier messages were not read in time and are left out.\n";
    for (const std::string& line : messages_)
        lines += line;
    write_text(lines, text, size, needed);
    if (text) {
        messages_.clear();
        unread_ = 0;
    }
}

} // namespace specklescope::library
