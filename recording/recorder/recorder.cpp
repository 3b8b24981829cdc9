// The recorder: the pipeline fills its queue, and its thread writes the frames (recorded_files.cpp).
#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/threaded_sink.hpp"
#include "recording/pretrigger/pre_trigger.hpp"
#include "recording/recorder/recorded_files.hpp"
#include "recording/report/report.hpp"
#include "recording/stream/pipe_end.hpp"

#include <algorithm>
#include <array>

namespace specklescope {

namespace {
/// Frames of the pipeline's rings that a recorder may hold, so that the processing thread copies nothing
/// while the recorder's thread is fast enough: half of the slots that the pipeline does not need itself. A
/// ring has at least 6 slots, of which at least 4 stay free (each recorder holds slots of one ring).
constexpr int kPinned = 2;
int most_pinned(int slots) { return std::max(kPinned, (slots - kMinSlots) / 2); }
/// With a slower writer frames are copied, so that the camera keeps its slots. A copy takes the time of the
/// processing thread: frames that arrive at more bytes/s are dropped instead, at half of the rate of a copy
/// into new memory.
constexpr double kMostCopied = 1e9;
/// Memory limit for copies…
constexpr std::size_t kPoolBytes = std::size_t{512} << 20;
constexpr std::size_t kPoolFrames = 1024; ///< a guess
/// …and limit for queued frames, as the time to write them: a kill loses at most one second, and a stop
/// waits no longer, regardless of the format's speed.
constexpr double kBacklogSeconds = 0.8;
constexpr double kFirstGuess = 0.05; ///< seconds per frame, before any was written
/// The estimated cost of writing is wrong while other programs use the processor or the disk. A live frame
/// that has waited this long is dropped: less if frames take long, so that frames in the encoder reach the
/// file within their second.
double longest_wait(double cost) { return std::max(0.1, kBacklogSeconds - 2 * cost); }
/// Waking a thread takes longer than writing a small frame: frames that come more often than this wake the
/// recorder's thread together, or after kLongestSleep.
constexpr double kOften = 2e-4; ///< in s
constexpr auto kLongestSleep = std::chrono::milliseconds(20);
/// Only one frame is queued if writing a frame takes longer.
constexpr double kSlow = 0.1;
constexpr auto kUpdateEvery = std::chrono::seconds(1);
} // namespace

namespace {

/// Seconds to write a frame: the median of the last five, which ignores one long pause of a disk.
class WriteCost {
public:
    explicit WriteCost(double guess) { last_.fill(guess); }
    void add(double seconds) {
        std::rotate(last_.begin(), last_.begin() + 1, last_.end());
        last_.back() = seconds;
    }
    double median() const {
        std::array<double, 5> sorted = last_;
        std::sort(sorted.begin(), sorted.end());
        return sorted[2];
    }

private:
    std::array<double, 5> last_{};
};

/// Capacity for copies of frames of one shape. Used by the pushing thread only.
class Pool {
public:
    /// Replaces `pixels` by a copy; false if there is no room.
    bool copy(Frame& pixels, const std::string& path) {
        const Shape& shape = pixels.shape();
        if (!ring_ || shape_ != shape) {
            const std::size_t slots =
                std::min(kPoolFrames, kPoolBytes / std::max<std::size_t>(1, shape.bytes()));
            ring_.reset();
            shape_ = shape;
            try {
                if (slots > 0)
                    ring_.emplace(shape, static_cast<int>(slots), host_memory());
            } catch (const RunError& error) {
                run_log().warn("Recording {} without a buffer. {}", path, error.what());
            }
        }
        Frame copy = ring_ ? ring_->try_acquire() : Frame();
        if (!copy)
            return false;
        copy_pixels(pixels.host(), copy.host());
        pixels = std::move(copy);
        return true;
    }
    void clear() { ring_.reset(); }

private:
    std::optional<FrameRing> ring_;
    Shape shape_;
};

struct RecorderItem {
    RecordedFrame frame;
    bool pinned = false; ///< a frame of the pipeline's rings
    bool live = false;   ///< may be dropped
    bool held = false;   ///< in the memory of RecordOptions::before
};

class Recorder final : public ThreadedSink<RecorderItem> {
public:
    explicit Recorder(RecordOptions options)
        : ThreadedSink({.capacity = 1}), options_(std::move(options)), format_(record_format(options_.path)),
          files_(options_, format_), gate_(options_.limits) {}
    ~Recorder() override { close(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void open(const StreamInfo& stream) override;
    void push(const Result& result, bool may_wait) override;
    void mark(const EventMark& event) override;
    void hurry() noexcept override {
        released_.notify_all();
        if (options_.pipe)
            options_.pipe->hurry();
    }
    bool wants_host_image() const override {
        return options_.what == RecordWhat::processed || options_.what == RecordWhat::screen;
    }
    bool follows_display() const override { return options_.what == RecordWhat::screen; }
    bool records() const override { return true; }
    SinkStatus status() const override {
        const std::lock_guard lock(mutex_);
        SinkStatus status = status_;
        status.queued = queue_.size() + busy_;
        return status;
    }

private:
    using Item = RecorderItem;
    enum class Room : std::uint8_t { pin, copy, hold, none };

    void check_holds(const StreamInfo& stream) const;
    RecordedFrame offered(const Result& result) const;
    void take_before(const FrameInfo& first);
    bool copy_to(Room room, RecordedFrame& frame);
    int most_pinned_of(const Shape& shape) const;
    Room find_room(std::unique_lock<std::mutex>& lock, const Shape& shape, bool may_wait);
    bool takes(const FrameInfo& info);
    void end_if_long_enough();
    void drop_late(bool has_room);
    // Called on the thread.
    void work(std::deque<Item>& items) override;
    void finish() override;
    void fail(const std::string& sentence) override;
    /// Number of frames for which the threads wake each other.
    std::size_t together() const {
        return interval_s_ < kOften ? static_cast<std::size_t>(std::max(1, most_pinned_ / 4)) : 1;
    }
    bool ended() const override { return !status_.complete.empty(); }
    Time wakes_at() const override {
        return together() > 1 ? std::min(next_update_, SteadyClock::now() + kLongestSleep) : next_update_;
    }
    std::deque<Item> take() override;
    void after_close() override;
    void release_slots();
    void write(const RecordedFrame& frame);
    bool ends_before(const RecordedFrame& frame);
    void update_file();
    void forget_queue(std::deque<Item>& items);
    void show_progress();

    const RecordOptions options_;
    const RecordFormat& format_;
    RecordedFiles files_;            ///< used by the thread, while it runs
    std::uint64_t logged_drops_ = 0; ///< used by the thread, while it runs
    std::deque<Item> written_;       ///< used by the thread: their slots are held
    // Used by the pushing thread.
    Pool pool_, raw_pool_;
    StreamInfo stream_;
    Time last_push_{};
    std::condition_variable released_; ///< half of the pinned frames are written
    // Guarded by mutex_.
    FrameGate gate_;
    GrowingTime gate_time_; ///< times for the gate
    int pinned_ = 0;        ///< pinned items in the queue or being written
    int most_pinned_ = kPinned;
    double interval_s_ = 0; ///< mean time between frames
    std::size_t held_ = 0;  ///< held items in the queue
    WriteCost cost_{kFirstGuess};
    std::uint64_t offered_ = 0;
    std::uint64_t newest_ = 0,
                  newest_left_out_ = 0; ///< of the last offered frame: sequence, status_.left_out
    std::vector<EventMark> events_;     ///< for the next accepted frame
    bool began_ = false;                ///< the frames from before have been requested
    Time next_update_{};
};

void Recorder::check_holds(const StreamInfo& stream) const {
    const bool known = options_.what == RecordWhat::raw && stream.source.shape.width > 0;
    // Every format of the screen supports this shape.
    const Shape shape =
        options_.what == RecordWhat::screen ? Shape{16, 16, 3, PixelType::u8} : stream.source.shape;
    if (known || options_.what == RecordWhat::screen)
        if (const std::string reason = cannot_hold(options_, shape); !reason.empty())
            throw UsageError(reason);
}

void Recorder::open(const StreamInfo& stream) {
    close();
    check_holds(stream);
    if (format_.check)
        format_.check(options_.what);
    files_.open(stream);
    stream_ = stream;
    last_push_ = {};
    interval_s_ = stream.source.rate > 0 ? 1 / stream.source.rate : 1;
    gate_ = FrameGate(options_.limits);
    gate_time_ = {};
    pinned_ = 0;
    held_ = 0;
    cost_ = WriteCost(kFirstGuess);
    offered_ = newest_ = newest_left_out_ = logged_drops_ = 0;
    events_.clear();
    began_ = false;
    next_update_ = SteadyClock::now() + kUpdateEvery;
    start({});
}

/// Slots of the ring of this recorder's frames that it may hold.
int Recorder::most_pinned_of(const Shape& shape) const {
    const bool raw = options_.what == RecordWhat::raw || options_.what == RecordWhat::mask;
    if (raw && shape != stream_.source.shape) // the ring was replaced
        return kPinned;
    return most_pinned(raw ? stream_.slots : std::min(stream_.slots, default_slots(shape)));
}

/// A file source waits until half of the pinned frames are written: with small frames, waking this thread
/// for each of them would cost more than writing them.
Recorder::Room Recorder::find_room(std::unique_lock<std::mutex>& lock, const Shape& shape, bool may_wait) {
    most_pinned_ = may_wait && cost_.median() > kSlow ? 1 : most_pinned_of(shape);
    if (may_wait && pinned_ >= most_pinned_)
        released_.wait(lock, [&] { return pinned_ <= most_pinned_ / 2 || stopped() || ended(); });
    if (stopped())
        return Room::none;
    const double cost = cost_.median();
    // Use the memory of the frames from before the trigger while many of them are queued.
    if (!may_wait && held_ > 0 && static_cast<double>(queue_.size()) * cost > kBacklogSeconds / 2)
        return Room::hold;
    const bool in_time = static_cast<double>(queue_.size() + 1) * cost <= kBacklogSeconds;
    if (pinned_ < kPinned || (pinned_ < most_pinned_ && (in_time || may_wait)))
        return Room::pin;
    return in_time && static_cast<double>(shape.bytes()) <= kMostCopied * interval_s_ ? Room::copy
                                                                                      : Room::none;
}

bool Recorder::copy_to(Room room, RecordedFrame& frame) {
    if (room == Room::hold)
        return options_.before->copy(frame.pixels);
    return pool_.copy(frame.pixels, options_.path) &&
           (!frame.raw || raw_pool_.copy(frame.raw, options_.path));
}

/// Frame to record from a result. Without a chain, a screen recording needs an image of the whole window. A
/// screen layout with the raw image needs it; a report does not.
RecordedFrame Recorder::offered(const Result& result) const {
    RecordedFrame frame = recorded_frame(result, options_.what);
    if (options_.what != RecordWhat::screen || !result.chain)
        return frame;
    ScreenLook plain;
    plain.mapping = options_.mapping;
    frame.look = options_.look ? options_.look->get() : std::make_shared<const ScreenLook>(plain);
    if (frame.look->layout != ScreenLayout::processed)
        frame.raw = result.raw;
    return frame;
}

/// Requires mutex_. Without room in the file all live frames are late: the pipeline needs their slots.
/// Later frames in the queue include the dropped ones in their counts, so that a gap is not
/// counted twice.
void Recorder::drop_late(bool has_room) {
    const auto limit = SteadyClock::now() - std::chrono::duration<double>(longest_wait(cost_.median()));
    std::uint64_t late = 0;
    std::vector<EventMark> events;
    while (!queue_.empty() && queue_.front().live && (!has_room || queue_.front().frame.taken < limit)) {
        pinned_ -= queue_.front().pinned ? 1 : 0;
        const std::vector<EventMark>& lost = queue_.front().frame.events;
        events.insert(events.end(), lost.begin(), lost.end());
        queue_.pop_front();
        ++late;
    }
    status_.dropped += late;
    status_.late += late;
    if (late > 0)
        for (Item& item : queue_)
            item.frame.dropped += late;
    std::vector<EventMark>& next = queue_.empty() ? events_ : queue_.front().frame.events;
    next.insert(next.begin(), events.begin(), events.end());
}

/// Requires mutex_. True if the frame is to be recorded.
bool Recorder::takes(const FrameInfo& info) {
    if (!running_ || !status_.complete.empty())
        return false;
    FrameInfo timed = info;
    timed.capture_ns = gate_time_.at(info.capture_ns, !info.discontinuity);
    switch (gate_.judge(timed)) {
    case FrameGate::Verdict::take:
        return true;
    case FrameGate::Verdict::leave:
        ++status_.left_out;
        return false;
    case FrameGate::Verdict::end:
        break;
    }
    end_if_long_enough();
    return false;
}

/// Requires mutex_. All frames before the end are queued.
void Recorder::end_if_long_enough() {
    if (!gate_.ended() || !status_.complete.empty())
        return;
    status_.complete = gate_.reason();
    work_.notify_one();
}

/// Requires mutex_. Queues the frames from before the trigger; `first` is the first frame after them.
void Recorder::take_before(const FrameInfo& first) {
    for (RecordedFrame& frame : options_.before->take(first)) {
        if (!takes(frame.info))
            continue;
        ++offered_;
        frame.trigger = first.sequence;
        frame.left_out = status_.left_out;
        frame.taken = SteadyClock::now();
        queue_.push_back({.frame = std::move(frame), .held = true});
        ++held_;
        end_if_long_enough();
    }
    work_.notify_one();
}

void Recorder::push(const Result& result, bool may_wait) {
    if (result.repeated)
        return;
    Item item;
    item.frame = offered(result);
    item.live = !may_wait;
    const auto now = SteadyClock::now();
    const auto last = std::exchange(last_push_, now);
    std::unique_lock lock(mutex_);
    if (last != Time{})
        interval_s_ += (std::chrono::duration<double>(now - last).count() - interval_s_) / 64;
    if (!item.frame.pixels && offered_ == 0) // it was already on the GPU when this recorder opened
        return;
    if (running_ && options_.before && !std::exchange(began_, true))
        take_before(result.info);
    if (!takes(result.info))
        return;
    drop_late(true);
    Room room = item.frame.pixels ? find_room(lock, item.frame.pixels.shape(), may_wait) : Room::none;
    if (room == Room::copy || room == Room::hold) {
        item.held = room == Room::hold;
        item.live = item.live && !item.held;
        lock.unlock();
        const bool copied = copy_to(room, item.frame);
        lock.lock();
        if (!copied || stopped())
            room = Room::none;
    }
    if (!status_.complete.empty()) // ended while this frame waited for a slot
        return;
    ++offered_; // from here it is queued or dropped
    newest_ = result.info.sequence;
    newest_left_out_ = status_.left_out;
    if (room == Room::none) {
        ++status_.dropped;
        return end_if_long_enough();
    }
    item.pinned = room == Room::pin;
    if (item.pinned && format_.make == make_report_writer)
        item.frame.raw = result.raw;
    pinned_ += item.pinned ? 1 : 0;
    held_ += item.held ? 1 : 0;
    item.frame.dropped = status_.dropped;
    item.frame.left_out = status_.left_out;
    item.frame.taken = SteadyClock::now();
    item.frame.events = std::exchange(events_, {});
    queue_.push_back(std::move(item));
    end_if_long_enough();
    const bool wake = queue_.size() >= together() || ended();
    lock.unlock();
    if (wake)
        work_.notify_one();
}

void Recorder::mark(const EventMark& event) {
    const std::lock_guard lock(mutex_);
    if (running_ && !stopped())
        events_.push_back(event);
}

// Runs on the recorder's thread.

std::deque<RecorderItem> Recorder::take() {
    drop_late(files_.has_room());
    std::deque<Item> items;
    if (queue_.empty())
        return items;
    held_ -= queue_.front().held ? 1 : 0;
    items.push_back(std::move(queue_.front()));
    queue_.pop_front();
    return items;
}

void Recorder::work(std::deque<Item>& items) {
    if (!items.empty()) {
        try {
            write(items.front().frame);
        } catch (const std::exception& error) {
            fail(sentence_of(error));
        }
        written_.push_back(std::move(items.front()));
        items.clear();
    }
    release_slots();
    if (SteadyClock::now() < next_update_)
        return;
    update_file();
    const std::lock_guard lock(mutex_);
    next_update_ = SteadyClock::now() + kUpdateEvery;
}

/// Slots of frames that come fast are released together.
void Recorder::release_slots() {
    {
        const std::lock_guard lock(mutex_);
        busy_ = 0;
        if (!queue_.empty() && written_.size() < together())
            return;
    }
    const auto pinned = static_cast<int>(
        std::count_if(written_.begin(), written_.end(), [](const Item& item) { return item.pinned; }));
    written_.clear(); // before waking the pushing thread
    bool half = false;
    {
        const std::lock_guard lock(mutex_);
        pinned_ -= pinned;
        half = pinned_ <= most_pinned_ / 2;
    }
    if (half)
        released_.notify_all();
}

void Recorder::write(const RecordedFrame& given) {
    RecordedFrame frame = files_.derived(given);
    if (ends_before(frame))
        return;
    const double seconds = files_.write(frame);
    const std::lock_guard lock(mutex_);
    cost_.add(seconds);
    show_progress();
}

/// Requires mutex_.
void Recorder::show_progress() {
    const SinkStatus& files = files_.progress();
    status_.path = files.path;
    status_.written = files.written;
    status_.seconds = files.seconds;
    status_.lost_before = files.lost_before;
    status_.bytes = files.bytes;
    status_.disk_left_s = files.disk_left_s;
    if (status_.before.size() != files.before.size())
        status_.before = files.before;
}

/// Requires mutex_. Moves the queue to `items`, which are destroyed without mutex_.
void Recorder::forget_queue(std::deque<Item>& items) {
    items.swap(queue_);
    held_ = 0;
    pinned_ -= static_cast<int>(
        std::count_if(items.begin(), items.end(), [](const Item& item) { return item.pinned; }));
}

/// True if the recording would exceed its limit of bytes, which ends it.
bool Recorder::ends_before(const RecordedFrame& frame) {
    if (!files_.is_full_for(frame))
        return false;
    std::deque<Item> beyond;
    const std::lock_guard lock(mutex_);
    forget_queue(beyond);
    offered_ -= beyond.size() + 1;
    newest_ = files_.last_sequence();
    if (status_.complete.empty())
        status_.complete = std::to_string(options_.limits.mib) + " MiB";
    return true;
}

void Recorder::update_file() {
    const SinkStatus now = status();
    const bool well = now.error.empty();
    if (well && now.dropped > 0 &&
        now.dropped >= 2 * logged_drops_) { // at 1, 2, 4, …: a slow disk must not flood the log
        run_log().warn("Recording {}: {} frames dropped so far; the disk or the encoder is too slow.",
                       options_.path, now.dropped);
        logged_drops_ = now.dropped;
    }
    try {
        files_.update(now.dropped);
    } catch (const std::exception& error) {
        if (well)
            fail(sentence_of(error));
    }
}

/// Only counts frames from here on. The file stays open: its description will contain the count.
void Recorder::fail(const std::string& sentence) {
    run_log().error("{}", sentence);
    files_.recount();
    {
        std::deque<Item> unwritten;
        const std::lock_guard lock(mutex_);
        if (status_.error.empty())
            status_.error = sentence;
        forget_queue(unwritten);
        show_progress();
        status_.dropped = offered_ - status_.written;
    }
    released_.notify_all();
    update_file();
}

void Recorder::finish() {
    SinkStatus now;
    {
        const std::lock_guard lock(mutex_);
        now = status_;
        files_.count_lost_until(newest_, now.dropped, newest_left_out_);
    }
    try {
        files_.finish(now.dropped, now.error.empty()); // a write that failed cuts a recording off
    } catch (const std::exception& error) {
        if (now.error.empty())
            fail(sentence_of(error));
        else // otherwise the reason was reported
            run_log().debug("{}", sentence_of(error));
    }
    const std::lock_guard lock(mutex_);
    show_progress();
    if (!status_.error.empty()) // an encoder may have lost accepted frames
        status_.dropped = offered_ - status_.written;
}

void Recorder::after_close() {
    if (options_.pipe)
        options_.pipe->close();
    for (const EventMark& event : std::exchange(events_, {}))
        run_log().warn("Event '{}' came after the last frame of {} and is not in it.", one_line(event.label),
                       options_.path);
    if (began_)
        options_.before->resume();
    pool_.clear();
    raw_pool_.clear();
}

} // namespace

std::shared_ptr<Sink> make_recorder(const RecordOptions& options) {
    if (stream_target(options.path) && !options.pipe)
        throw UsageError("'" + options.path +
                         "' is a stream, which only the program can record to. Name a file.");
    return std::make_shared<Recorder>(options);
}

} // namespace specklescope
