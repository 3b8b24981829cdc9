#include "recording/recorder.hpp"

#include "pipeline/error.hpp"
#include "recording/record_file.hpp"
#include "recording/saturation_mask.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

/// Frames of the pipeline's own rings that one recorder may hold: no copy as long as the disk keeps up. A
/// ring has 6 slots or more, so raw and processed recording together leave it at least 4 (each holds slots of
/// its own ring only).
constexpr int kPinned = 2;
/// A slower disk gets copies, so that it never starves the camera of slots. This much memory at most…
constexpr std::size_t kPoolBytes = std::size_t{512} << 20;
constexpr std::size_t kPoolFrames = 1024; ///< a guess
/// …and no more frames than can be written in this time: a kill or a stop never has more than about a second
/// to lose or to wait for, whatever the format's speed.
constexpr double kBacklogSeconds = 0.8;
constexpr double kFirstGuess = 0.05; ///< seconds a frame takes, before any was written
constexpr auto kUpdateEvery = 1s;

class Recorder final : public Sink {
public:
    explicit Recorder(RecordOptions options)
        : options_(std::move(options)), format_(record_format(options_.path)) {}
    ~Recorder() override { close(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void open(const StreamInfo& stream) override;
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override;
    bool wants_host_image() const override { return options_.what == RecordWhat::processed; }
    SinkStatus status() const override;

private:
    struct Item {
        RecordedFrame frame;
        bool pinned = false;
    };
    enum class Room { pin, copy, none };

    Room find_room(std::unique_lock<std::mutex>& lock, bool may_wait);
    bool copy_to_pool(Frame& pixels);
    // The rest runs on the writing thread.
    void run();
    void write(Item item);
    double write_frame(const RecordedFrame& frame);
    void next_file(const RecordedFrame& first);
    void update_file();
    void finish_file(std::uint64_t dropped);
    void account(double seconds);
    FileTotals totals(std::uint64_t dropped) const;
    void fail(const char* what);

    const RecordOptions options_;
    const RecordFormat& format_;
    StreamInfo stream_;

    mutable std::mutex mutex_;
    std::condition_variable work_; ///< something to write, or the end
    std::condition_variable room_; ///< a frame went home, or the end
    std::deque<Item> queue_;
    SinkStatus status_; ///< guarded by mutex_, like everything above and the six below
    int pinned_ = 0;    ///< frames of the pipeline's rings in the queue or being written
    int writing_ = 0;   ///< 1 while a frame is being written
    double cost_ = 0;   ///< seconds a frame takes to write
    std::uint64_t offered_ = 0;
    bool running_ = false;
    bool closing_ = false;

    std::mutex close_mutex_; ///< makes two that close take turns
    std::thread thread_;
    std::optional<FrameRing> pool_; ///< used by the pushing thread alone
    Shape pool_shape_;

    // Used by the writing thread alone.
    std::unique_ptr<FileWriter> writer_;
    SaturationMask mask_;
    Shape shape_;
    std::array<double, 5> costs_{};    ///< of the last frames; their median ignores one long pause of a disk
    std::uint64_t written_before_ = 0; ///< in finished files
    std::uint64_t dropped_before_ = 0; ///< counted in finished files
    std::uint64_t lost_before_ = 0, in_warmup_ = 0; ///< of the present file
    std::uint64_t last_sequence_ = 0, last_dropped_ = 0, logged_drops_ = 0;
    bool any_frame_ = false;
    SteadyClock::time_point next_update_{};
};

void Recorder::open(const StreamInfo& stream) {
    close();
    if (options_.what == RecordWhat::raw && stream.source.shape.width > 0)
        if (const std::string reason = cannot_hold(options_, stream.source.shape); !reason.empty())
            throw UsageError(reason);
    check_folder(options_.path);
    if (format_.check)
        format_.check(options_.what);
    const std::lock_guard lock(mutex_);
    stream_ = stream;
    status_ = {};
    pinned_ = writing_ = 0;
    offered_ = 0;
    closing_ = false;
    costs_.fill(kFirstGuess);
    cost_ = kFirstGuess;
    written_before_ = dropped_before_ = lost_before_ = last_sequence_ = last_dropped_ = logged_drops_ = 0;
    any_frame_ = false;
    thread_ = std::thread([this] { run(); }); // may throw: nothing runs then
    running_ = true;
}

Recorder::Room Recorder::find_room(std::unique_lock<std::mutex>& lock, bool may_wait) {
    if (may_wait)
        room_.wait(lock, [this] { return pinned_ < kPinned || closing_ || !status_.error.empty(); });
    if (closing_ || !status_.error.empty())
        return Room::none;
    if (pinned_ < kPinned)
        return Room::pin;
    return static_cast<double>(queue_.size() + 1) * cost_ <= kBacklogSeconds ? Room::copy : Room::none;
}

bool Recorder::copy_to_pool(Frame& pixels) {
    const Shape& shape = pixels.shape();
    if (!pool_ || pool_shape_ != shape) {
        const std::size_t slots = std::min(kPoolFrames, kPoolBytes / std::max<std::size_t>(1, shape.bytes()));
        pool_.reset();
        pool_shape_ = shape;
        try {
            if (slots > 0)
                pool_.emplace(shape, static_cast<int>(slots), host_memory());
        } catch (const RunError& error) {
            spdlog::warn("Recording {} without a buffer. {}", options_.path, error.what());
        }
    }
    Frame copy = pool_ ? pool_->try_acquire() : Frame();
    if (!copy)
        return false;
    copy_pixels(pixels.host(), copy.host());
    pixels = std::move(copy);
    return true;
}

void Recorder::push(const Result& result, bool may_wait) {
    if (result.repeated)
        return;
    Item item;
    item.frame = recorded_frame(result, options_.what);
    std::unique_lock lock(mutex_);
    if (!running_)
        return;
    Room room = item.frame.pixels ? find_room(lock, may_wait) : Room::none;
    if (room == Room::copy) {
        lock.unlock();
        const bool copied = copy_to_pool(item.frame.pixels);
        lock.lock();
        if (!copied || closing_ || !status_.error.empty())
            room = Room::none;
    }
    ++offered_; // decided: from here it is in the queue or dropped
    if (room == Room::none) {
        ++status_.dropped;
        return;
    }
    item.pinned = room == Room::pin;
    pinned_ += item.pinned ? 1 : 0;
    item.frame.dropped = status_.dropped;
    queue_.push_back(std::move(item));
    lock.unlock();
    work_.notify_one();
}

void Recorder::close() noexcept {
    const std::lock_guard turn(close_mutex_);
    {
        const std::lock_guard lock(mutex_);
        if (!running_)
            return;
        closing_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    thread_.join();
    const std::lock_guard lock(mutex_);
    running_ = false;
    status_.closed = true;
    pool_.reset();
}

SinkStatus Recorder::status() const {
    const std::lock_guard lock(mutex_);
    SinkStatus status = status_;
    status.queued = queue_.size() + static_cast<std::size_t>(writing_);
    return status;
}

void Recorder::run() {
    std::unique_lock lock(mutex_);
    next_update_ = SteadyClock::now() + kUpdateEvery;
    while (true) {
        work_.wait_until(lock, next_update_, [this] { return !queue_.empty() || closing_; });
        if (!queue_.empty()) {
            Item item = std::move(queue_.front());
            queue_.pop_front();
            writing_ = 1;
            lock.unlock();
            write(std::move(item));
            lock.lock();
        } else if (closing_) {
            break;
        }
        if (SteadyClock::now() >= next_update_) {
            lock.unlock();
            update_file();
            lock.lock();
            next_update_ = SteadyClock::now() + kUpdateEvery;
        }
    }
    const std::uint64_t dropped = status_.dropped;
    lock.unlock();
    try {
        finish_file(dropped);
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void Recorder::write(Item item) {
    try {
        account(write_frame(options_.what == RecordWhat::mask ? mask_.of(item.frame) : item.frame));
    } catch (const std::exception& error) {
        {
            const std::lock_guard lock(mutex_);
            ++status_.dropped; // the frame in hand
        }
        fail(error.what());
    }
    item.frame.pixels.reset(); // the slot goes home before room is announced
    {
        const std::lock_guard lock(mutex_);
        pinned_ -= item.pinned ? 1 : 0;
        writing_ = 0;
    }
    room_.notify_all();
}

/// Returns the seconds that the writing took, without those for making a file.
double Recorder::write_frame(const RecordedFrame& frame) {
    if (writer_ && frame.pixels.shape() != shape_)
        finish_file(frame.dropped);
    if (!writer_)
        next_file(frame);
    if (any_frame_ && frame.info.sequence > last_sequence_) {
        const std::uint64_t missing = frame.info.sequence - last_sequence_ - 1;
        const std::uint64_t lost = missing - std::min(missing, frame.dropped - last_dropped_);
        lost_before_ += lost;
        const std::lock_guard lock(mutex_);
        status_.lost_before += lost;
    }
    any_frame_ = true;
    last_sequence_ = frame.info.sequence;
    last_dropped_ = frame.dropped;
    const auto start = SteadyClock::now();
    writer_->write(frame);
    in_warmup_ += frame.warmup.done() ? 0 : 1;
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void Recorder::next_file(const RecordedFrame& first) {
    if (const std::string reason = cannot_hold(options_, first.pixels.shape()); !reason.empty())
        throw RunError(reason);
    writer_ = format_.make(first, options_, stream_);
    shape_ = first.pixels.shape();
    lost_before_ = in_warmup_ = 0;
    spdlog::info("Recording {} frames of {} into {}.", to_string(options_.what), to_string(shape_),
                 writer_->path());
    const std::lock_guard lock(mutex_);
    status_.path = writer_->path();
}

void Recorder::account(double seconds) {
    const std::uint64_t written = written_before_ + writer_->written(), bytes = writer_->bytes();
    std::rotate(costs_.begin(), costs_.begin() + 1, costs_.end());
    costs_.back() = seconds;
    std::array<double, 5> sorted = costs_;
    std::sort(sorted.begin(), sorted.end());
    const std::lock_guard lock(mutex_);
    status_.written = written;
    status_.bytes = bytes;
    cost_ = sorted[2];
}

FileTotals Recorder::totals(std::uint64_t dropped) const {
    return {.written = writer_->written(),
            .dropped = dropped - dropped_before_,
            .lost_before = lost_before_,
            .in_warmup = in_warmup_};
}

void Recorder::update_file() {
    std::uint64_t dropped = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!status_.error.empty())
            return;
        dropped = status_.dropped;
    }
    if (dropped > 0 && dropped >= 2 * logged_drops_) { // at 1, 2, 4, …: a slow disk must not flood the log
        spdlog::warn("Recording {}: {} frames dropped so far; the disk or the encoder is too slow for them.",
                     options_.path, dropped);
        logged_drops_ = dropped;
    }
    if (!writer_)
        return;
    try {
        writer_->update(totals(dropped));
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void Recorder::finish_file(std::uint64_t dropped) {
    if (!writer_)
        return;
    FileTotals last = totals(dropped);
    {
        const std::lock_guard lock(mutex_);
        last.finished = status_.error.empty(); // a write that failed cuts a recording off
    }
    dropped_before_ = dropped;
    const std::unique_ptr<FileWriter> writer = std::move(writer_);
    const auto settle = [&] {
        std::error_code ignored;
        if (writer->written() == 0) // nothing readable: leave nothing
            std::filesystem::remove(writer->path(), ignored);
        written_before_ += writer->written();
        const std::lock_guard lock(mutex_);
        status_.written = written_before_;
        status_.bytes = writer->bytes();
        status_.path = writer->path();
    };
    try {
        writer->finish(last);
    } catch (...) {
        settle();
        throw;
    }
    settle();
    spdlog::info("Recorded {} frame{} into {}, {} dropped, {} lost before the recorder.", writer->written(),
                 writer->written() == 1 ? "" : "s", writer->path(), last.dropped, last.lost_before);
}

void Recorder::fail(const char* what) {
    spdlog::error("{}", what);
    std::deque<Item> unwritten;
    std::uint64_t dropped = 0;
    {
        const std::lock_guard lock(mutex_);
        if (status_.error.empty())
            status_.error = what;
        unwritten.swap(queue_);
        status_.dropped += unwritten.size();
        dropped = status_.dropped;
        pinned_ -= static_cast<int>(
            std::count_if(unwritten.begin(), unwritten.end(), [](const Item& i) { return i.pinned; }));
    }
    unwritten.clear();
    room_.notify_all();
    try {
        finish_file(dropped);
    } catch (const std::exception& error) {
        spdlog::error("{}", error.what());
    }
    // An encoder may have lost frames that it had taken.
    const std::lock_guard lock(mutex_);
    status_.dropped = offered_ - status_.written;
}
} // namespace

std::shared_ptr<Sink> make_recorder(const RecordOptions& options) {
    return std::make_shared<Recorder>(options);
}

} // namespace specklescope
