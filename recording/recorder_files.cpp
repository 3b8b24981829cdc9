// The writing thread of the recorder: writes the queue into files and handles files that fail.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"
#include "recording/recorder_thread.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

constexpr auto kUpdateEvery = 1s;
constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

void check_present(const FileWriter& writer) {
    if (!writer.present())
        throw RunError("Recording into " + writer.path() +
                       " stopped: the file, or its folder, was removed while it was written, and its frames "
                       "with it; record into a folder that stays.");
}
} // namespace

void Recorder::run() {
    HeldSignal::hold_here(SIGXFSZ); // of libraries that write
    std::unique_lock lock(mutex_);
    next_update_ = SteadyClock::now() + kUpdateEvery;
    while (true) {
        const auto ends = [this] { return closing_ || !status_.complete.empty(); };
        work_.wait_until(lock, next_update_, [&] { return !queue_.empty() || ends(); });
        drop_late();
        if (!queue_.empty()) {
            Item item = std::move(queue_.front());
            queue_.pop_front();
            held_ -= item.held ? 1 : 0;
            writing_ = 1;
            lock.unlock();
            write(std::move(item));
            lock.lock();
        } else if (ends()) {
            break;
        }
        if (SteadyClock::now() >= next_update_) {
            lock.unlock();
            update_file();
            lock.lock();
            next_update_ = SteadyClock::now() + kUpdateEvery;
        }
    }
    count_behind_last();
    const std::uint64_t dropped = status_.dropped;
    const bool failed = !status_.error.empty();
    lock.unlock();
    try {
        finish_file(dropped);
    } catch (const std::exception& error) {
        if (failed) // the reason was reported
            run_log().debug("{}", sentence_of(error));
        else
            fail(sentence_of(error));
    }
    lock.lock();
    status_.written = written_before_;
    if (!status_.error.empty()) // an encoder may have lost frames that it had taken
        status_.dropped = offered_ - status_.written;
}

/// Requires mutex_. Counts frames that were lost between the last frame in the file and the last frame
/// offered.
void Recorder::count_behind_last() {
    if (!any_frame_ || newest_ <= last_sequence_)
        return;
    const std::uint64_t missing = newest_ - last_sequence_;
    const std::uint64_t known =
        status_.dropped - last_dropped_ - (last_failed_ ? 1 : 0) + newest_left_out_ - last_left_out_;
    const std::uint64_t lost = missing - std::min(missing, known);
    lost_before_ += lost;
    status_.lost_before += lost;
}

void Recorder::write(Item item) {
    try {
        RecordedFrame frame = options_.what == RecordWhat::mask ? mask_.of(item.frame)
                              : item.frame.look                 ? painter_.of(item.frame)
                              : options_.change && options_.baseline
                                  ? change_.of(item.frame, *options_.baseline)
                                  : item.frame;
        if (options_.limits.thins())
            frame.left_out_between = frame.left_out - last_left_out_;
        if (!ends_before(frame))
            account(write_frame(frame));
    } catch (const std::exception& error) {
        fail(sentence_of(error));
    }
    item.frame.pixels.reset(); // release the slots before waking the pushing thread
    item.frame.raw.reset();
    {
        const std::lock_guard lock(mutex_);
        pinned_ -= item.pinned ? 1 : 0;
        writing_ = 0;
    }
    room_.notify_all();
}

/// Bytes that the frame adds to its file: the mean of the frames before it, which an encoder may compress.
std::uint64_t Recorder::bytes_of(const RecordedFrame& frame) const {
    if (writer_ && writer_->written() > 0)
        return writer_->bytes() / writer_->written();
    return format_.colors ? 0 : frame.pixels.shape().bytes();
}

/// True if the recording would exceed its limit of bytes. It holds at least one frame.
bool Recorder::ends_before(const RecordedFrame& frame) {
    const std::uint64_t here = writer_ ? writer_->bytes() : 0;
    if (options_.limits.mib == 0 || (!writer_ && written_before_ == 0) ||
        bytes_before_ + here + bytes_of(frame) <= static_cast<std::uint64_t>(options_.limits.mib) * kMib)
        return false;
    std::deque<Item> beyond; // released outside the lock
    const std::lock_guard lock(mutex_);
    beyond.swap(queue_);
    offered_ -= beyond.size() + 1;
    newest_ = last_sequence_;
    held_ = 0;
    pinned_ -=
        static_cast<int>(std::count_if(beyond.begin(), beyond.end(), [](const Item& i) { return i.pinned; }));
    if (status_.complete.empty())
        status_.complete = std::to_string(options_.limits.mib) + " MiB";
    return true;
}

/// True if the file cannot hold this kind of frame besides its own.
bool Recorder::is_another_kind(const RecordedFrame& frame) const {
    return frame.pixels.shape() != shape_ || (!format_.colors && frame.quantity != quantity_);
}

bool Recorder::wants_next_file(const RecordedFrame& frame) const {
    const RecordLimits& limits = options_.limits;
    return is_another_kind(frame) ||
           (limits.split_s > 0 && static_cast<double>(now_ns_ - file_began_ns_) >= limits.split_s * 1e9) ||
           (limits.split_mib > 0 &&
            writer_->bytes() + bytes_of(frame) > static_cast<std::uint64_t>(limits.split_mib) * kMib);
}

/// Returns the seconds that writing took, without creating a file.
double Recorder::write_frame(RecordedFrame& frame) {
    disk_.check(bytes_of(frame));
    now_ns_ = time_.at(frame.info.capture_ns, !frame.info.discontinuity);
    if (writer_ && options_.pipe && is_another_kind(frame))
        throw RunError("Recording into " + options_.path + " stopped: " + to_string(frame.pixels.shape()) +
                       " frames of " + frame.quantity.name +
                       " follow others, and a stream has one kind; record "
                       "into a file.");
    if (writer_ && !options_.pipe && wants_next_file(frame))
        finish_file(frame.dropped);
    if (!writer_)
        next_file(frame);
    if (any_frame_ && frame.info.sequence > last_sequence_) {
        const std::uint64_t missing = frame.info.sequence - last_sequence_ - 1;
        const std::uint64_t known = frame.dropped - last_dropped_ + frame.left_out_between.value_or(0);
        const std::uint64_t lost = missing - std::min(missing, known);
        lost_before_ += lost;
        lost_in_all_ += lost;
        const std::lock_guard lock(mutex_);
        status_.lost_before += lost;
    }
    frame.lost = lost_in_all_;
    any_frame_ = true;
    last_sequence_ = frame.info.sequence;
    last_dropped_ = frame.dropped;
    last_left_out_ = frame.left_out;
    last_failed_ = true;
    const auto start = SteadyClock::now();
    writer_->write(frame);
    last_failed_ = false;
    in_warmup_ += frame.in_warmup ? 1 : 0;
    if (!stream_.source.clock.empty())
        clock_.add(frame.info);
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void Recorder::next_file(const RecordedFrame& first) {
    if (const std::string reason = cannot_hold(options_, first.pixels.shape()); !reason.empty())
        throw RunError(reason);
    RecordOptions options = options_;
    options.first_number = next_number_;
    writer_ = format_.make(first, options, stream_);
    const auto has = [&](int number) {
        return numbered(options_.path, number, format_.beside.size()) == writer_->path();
    };
    for (int number = next_number_; writer_->named() && number < kMaxNumber; ++number)
        if (has(number)) {
            next_number_ = number + 1;
            break;
        }
    shape_ = first.pixels.shape();
    quantity_ = first.quantity;
    file_began_ns_ = now_ns_;
    lost_before_ = in_warmup_ = 0;
    clock_ = {};
    run_log().info("Recording {} frames of {} into {}.", to_string(options_.what), to_string(shape_),
                   writer_->path());
    const std::lock_guard lock(mutex_);
    status_.path = writer_->path();
    if (finished_.written > 0)
        status_.before.push_back(std::exchange(finished_, {}));
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
    status_.disk_left_s = disk_.left_s(bytes_before_ + bytes);
    cost_ = sorted[2];
}

FileTotals Recorder::totals(std::uint64_t dropped) const {
    return {.written = writer_->written(),
            .dropped = dropped - dropped_before_,
            .lost_before = lost_before_,
            .in_warmup = in_warmup_,
            .clock = clock_.report()};
}

void Recorder::update_file() {
    std::uint64_t dropped = 0;
    bool failed = false;
    {
        const std::lock_guard lock(mutex_);
        dropped = status_.dropped;
        failed = !status_.error.empty();
    }
    if (!failed && dropped > 0 &&
        dropped >= 2 * logged_drops_) { // at 1, 2, 4, …: a slow disk must not flood the log
        run_log().warn(
            "Recording {}: {} frames dropped so far; the disk or the encoder is too slow for them.",
            options_.path, dropped);
        logged_drops_ = dropped;
    }
    if (!writer_)
        return;
    try {
        check_present(*writer_);
        writer_->update(totals(dropped));
    } catch (const std::exception& error) {
        if (!failed)
            fail(sentence_of(error));
    }
}

/// Number of frames in files.
std::uint64_t Recorder::kept() const {
    return written_before_ + (writer_ && writer_->present() ? writer_->written() : 0);
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
    const bool present = writer->present(); // a later removal is not noticed
    const auto settle = [&] {
        std::error_code ignored;
        if (present && writer->named() && writer->written() == 0) // no readable file: remove it
            std::filesystem::remove(writer->path(), ignored);
        const SinkFile file{writer->path(), present ? writer->written() : 0, writer->bytes()};
        written_before_ += file.written;
        bytes_before_ += file.bytes;
        const std::lock_guard lock(mutex_);
        status_.written = written_before_;
        status_.bytes = file.bytes;
        status_.path = file.path;
        finished_ = file;
    };
    try {
        check_present(*writer);
        writer->finish(last);
    } catch (...) {
        settle();
        throw;
    }
    settle();
    run_log().info("Recorded {} frame{} into {}, {} dropped, {} lost before the recorder.", writer->written(),
                   writer->written() == 1 ? "" : "s", writer->path(),
                   last.dropped + last.written - std::min(last.written, writer->written()), last.lost_before);
}

/// From now on frames are only counted. The file stays open: its description will hold the count.
void Recorder::fail(const std::string& what) {
    run_log().error("{}", what);
    std::deque<Item> unwritten;
    const std::uint64_t written = kept();
    {
        const std::lock_guard lock(mutex_);
        if (status_.error.empty())
            status_.error = what;
        unwritten.swap(queue_);
        held_ = 0;
        status_.written = written;
        status_.dropped = offered_ - written;
        pinned_ -= static_cast<int>(
            std::count_if(unwritten.begin(), unwritten.end(), [](const Item& i) { return i.pinned; }));
    }
    unwritten.clear();
    room_.notify_all();
    update_file();
}

} // namespace specklescope
