#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "recording/recorder_thread.hpp"
#include "recording/report/report.hpp"
#include "recording/stream/pipe_end.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace specklescope {

namespace {
/// Frames of the pipeline's rings that a recorder may hold: no copy while the disk keeps up. A ring has at
/// least 6 slots, of which at least 4 stay free (each recorder holds slots of one ring).
constexpr int kPinned = 2;
/// With a slower disk frames are copied, so that the camera keeps its slots. Most memory for copies…
constexpr std::size_t kPoolBytes = std::size_t{512} << 20;
constexpr std::size_t kPoolFrames = 1024; ///< a guess
/// …and most frames, as the time to write them: a kill loses at most one second, and a stop waits for no
/// longer, whatever the speed of the format.
constexpr double kBacklogSeconds = 0.8;
constexpr double kFirstGuess = 0.05; ///< seconds a frame takes, before any was written
/// The estimated cost of writing is wrong while other programs use the processor or the disk. A live frame
/// that has waited this long is dropped: less if frames take long, so that frames in the encoder reach the
/// file within their second.
double longest_wait(double cost) { return std::max(0.1, kBacklogSeconds - 2 * cost); }
/// Only one frame waits if writing a frame takes longer.
constexpr double kSlow = 0.1;
} // namespace

void Recorder::check_holds(const StreamInfo& stream) const {
    const bool known = options_.what == RecordWhat::raw && stream.source.shape.width > 0;
    // Every format of the screen holds this shape.
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
    check_timed(options_.limits, stream.source);
    if (!options_.pipe) {
        check_folder(options_.path);
        check_length(options_.path, format_.beside.size());
        disk_ = DiskRoom(options_.path, options_.limits.keep_free);
        disk_.check(0);
    }
    const std::lock_guard lock(mutex_);
    stream_ = stream;
    stream_.source.rate = options_.limits.thinned(stream.source.rate);
    gate_ = FrameGate(options_.limits);
    gate_time_ = {};
    painter_.begin(stream);
    status_ = {};
    pinned_ = writing_ = 0;
    offered_ = 0;
    held_ = 0;
    began_ = closing_ = false;
    events_.clear();
    costs_.fill(kFirstGuess);
    cost_ = kFirstGuess;
    written_before_ = bytes_before_ = dropped_before_ = lost_before_ = last_sequence_ = last_dropped_ =
        last_left_out_ = logged_drops_ = newest_ = newest_left_out_ = lost_in_all_ = 0;
    any_frame_ = false;
    next_number_ = 0;
    time_ = {};
    finished_ = {};
    thread_ = std::thread([this] { run(); }); // may throw: nothing runs then
    running_ = true;
}

Recorder::Room Recorder::find_room(std::unique_lock<std::mutex>& lock, bool may_wait) {
    const auto pinnable = [&] { return pinned_ < (may_wait && cost_ > kSlow ? 1 : kPinned); };
    if (may_wait)
        room_.wait(lock, [&] {
            return pinnable() || closing_ || !status_.error.empty() || !status_.complete.empty();
        });
    if (closing_ || !status_.error.empty())
        return Room::none;
    // After frames from before the trigger: in their memory, while many of them wait.
    if (!may_wait && held_ > 0 && static_cast<double>(queue_.size()) * cost_ > kBacklogSeconds / 2)
        return Room::hold;
    if (pinnable())
        return Room::pin;
    return static_cast<double>(queue_.size() + 1) * cost_ <= kBacklogSeconds ? Room::copy : Room::none;
}

bool Recorder::Pool::copy(Frame& pixels, const std::string& path) {
    const Shape& shape = pixels.shape();
    if (!ring_ || shape_ != shape) {
        const std::size_t slots = std::min(kPoolFrames, kPoolBytes / std::max<std::size_t>(1, shape.bytes()));
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

bool Recorder::copy_to(Room room, RecordedFrame& frame) {
    if (room == Room::hold)
        return options_.before->copy(frame.pixels);
    return pool_.copy(frame.pixels, options_.path) &&
           (!frame.raw || raw_pool_.copy(frame.raw, options_.path));
}

/// The frame to record of a result. Without a chain a screen recording gets an image of the whole window. A
/// screen layout that shows the raw image needs it; a report does not.
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

/// Requires mutex_. Later frames in the queue count the dropped ones, so that a gap is not counted twice.
void Recorder::drop_late() {
    const auto limit = SteadyClock::now() - std::chrono::duration<double>(longest_wait(cost_));
    std::uint64_t late = 0;
    std::vector<EventMark> events;
    while (!queue_.empty() && queue_.front().live && queue_.front().frame.taken < limit) {
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
    end_where_long_enough();
    return false;
}

/// Requires mutex_. Everything before the end is in the queue.
void Recorder::end_where_long_enough() {
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
        end_where_long_enough();
    }
    work_.notify_one();
}

void Recorder::push(const Result& result, bool may_wait) {
    if (result.repeated)
        return;
    Item item;
    item.frame = offered(result);
    item.live = !may_wait;
    std::unique_lock lock(mutex_);
    if (!item.frame.pixels && offered_ == 0) // it was already on the GPU when this recorder opened
        return;
    if (running_ && options_.before && !std::exchange(began_, true))
        take_before(result.info);
    if (!takes(result.info))
        return;
    drop_late();
    Room room = item.frame.pixels ? find_room(lock, may_wait) : Room::none;
    if (room == Room::copy || room == Room::hold) {
        item.held = room == Room::hold;
        item.live = item.live && !item.held;
        lock.unlock();
        const bool copied = copy_to(room, item.frame);
        lock.lock();
        if (!copied || closing_ || !status_.error.empty())
            room = Room::none;
    }
    if (!status_.complete.empty()) // ended while this frame waited for room
        return;
    ++offered_; // from here it is queued or dropped
    newest_ = result.info.sequence;
    newest_left_out_ = status_.left_out;
    if (room == Room::none) {
        ++status_.dropped;
        return end_where_long_enough();
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
    end_where_long_enough();
    lock.unlock();
    work_.notify_one();
}

void Recorder::mark(const EventMark& event) {
    const std::lock_guard lock(mutex_);
    if (running_ && !closing_ && status_.error.empty())
        events_.push_back(event);
}

void Recorder::hurry() noexcept {
    if (options_.pipe)
        options_.pipe->hurry();
}

void Recorder::close() noexcept {
    const std::lock_guard turn(close_mutex_);
    {
        const std::lock_guard lock(mutex_);
        if (!running_)
            return;
        closing_ = true;
    }
    hurry();
    work_.notify_all();
    room_.notify_all();
    thread_.join();
    if (options_.pipe)
        options_.pipe->close();
    const std::lock_guard lock(mutex_);
    running_ = false;
    status_.closed = true;
    for (const EventMark& event : std::exchange(events_, {}))
        run_log().warn("'{}' was marked behind the last frame of {}, and is not in it.",
                       one_line(event.label), options_.path);
    if (began_)
        options_.before->resume();
    pool_.clear();
    raw_pool_.clear();
}

SinkStatus Recorder::status() const {
    const std::lock_guard lock(mutex_);
    SinkStatus status = status_;
    status.queued = queue_.size() + static_cast<std::size_t>(writing_);
    return status;
}

std::shared_ptr<Sink> make_recorder(const RecordOptions& options) {
    if (stream_target(options.path) && !options.pipe)
        throw UsageError("'" + options.path +
                         "' is a stream, into which the program alone records; name a file.");
    return std::make_shared<Recorder>(options);
}

} // namespace specklescope
