#include "recording/storage_barrier.hpp"

#include "base/log.hpp"

#include "recording/write_behind.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace specklescope {

int StorageBarrier::name(std::uint64_t offset, std::string_view bytes, SteadyClock::time_point since,
                         bool all) {
    std::unique_lock lock(mutex_);
    if (holds_ && !thread_.joinable()) {
        try {
            thread_ = std::thread([this] { run(); });
        } catch (const std::system_error& error) {
            give_up(error.what());
        }
    }
    const bool first = waiting_.frames == 0;
    if (first)
        waiting_ = {.frames = 0, .offset = offset, .bytes = {}, .since = since};
    if (all) {
        waiting_.offset = offset;
        waiting_.bytes.clear();
    }
    ++waiting_.frames;
    if (first || all || kind_ == Kind::text)
        waiting_.bytes += bytes;
    if (!holds_)
        return write_unstored(waiting_);
    lock.unlock();
    if (first)
        changed_.notify_all();
    else if (kind_ == Kind::chain && !all)
        return names_.write_at(offset, bytes.data(), bytes.size());
    return 0;
}

int StorageBarrier::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
        if (holds_ && ::fdatasync(names_.fd()) != 0)
            note(errno);
    }
    return error();
}

int StorageBarrier::error() const {
    const std::lock_guard lock(mutex_);
    return error_;
}

std::uint64_t StorageBarrier::named() const {
    const std::lock_guard lock(mutex_);
    return named_;
}

std::uint64_t StorageBarrier::unstored() const {
    const std::lock_guard lock(mutex_);
    return unstored_;
}

void StorageBarrier::run() {
    std::unique_lock lock(mutex_);
    auto next = SteadyClock::now(); // the first frame is named as soon as it can be
    while (holds_) {
        changed_.wait(lock, [&] { return stop_ || waiting_.frames > 0; });
        if (waiting_.frames == 0)
            return;
        changed_.wait_until(lock, std::min(next, waiting_.since + kNamedAfter), [&] { return stop_; });
        next = SteadyClock::now() + kEvery;
        store_and_name(lock);
    }
}

void StorageBarrier::store_and_name(std::unique_lock<std::mutex>& lock) {
    Group storing = std::exchange(waiting_, {});
    answered_ = false;
    lock.unlock();
    const auto started = SteadyClock::now();
    std::future<int> answer;
    const bool asked = ask(answer, frames_.bytes());
    lock.lock();
    if (!asked) {
        write_unstored(storing);
        give_up("the system gives no thread that waits for the disk");
        return;
    }
    if (changed_.wait_until(lock, storing.since + kNamedAfter, [this] { return answered_; })) {
        lock.unlock(); // frames that come meanwhile are of the next group
        write(storing);
    } else {
        name_late(lock, storing, started);
        lock.unlock();
    }
    const int error = answer.get();
    lock.lock();
    note(error);
    if (error != 0 && error_ == 0 && holds_)
        give_up("the disk cannot be told to store it (" + std::generic_category().message(error) + ")");
}

/// Keeps what says that bytes are lost; other errors tell of a file that cannot be stored by hand.
void StorageBarrier::note(int error) {
    if (error_ == 0 && (error == EIO || error == ENOSPC || error == EDQUOT || error == EFBIG))
        error_ = error;
}

/// False where there is no thread for it.
bool StorageBarrier::ask(std::future<int>& answer, std::uint64_t bytes) {
    try {
        answer = std::async(std::launch::async, [this, bytes] {
            int error = ENOMEM;
            try {
                error = store(bytes);
            } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): told as the disk's errors are
            }
            {
                const std::lock_guard lock(mutex_);
                answered_ = true;
            }
            changed_.notify_all();
            return error;
        });
        return true;
    } catch (const std::exception&) { // no thread, or no memory for one
        return false;
    }
}

/// Until the storage answers, what comes is named at once.
void StorageBarrier::name_late(std::unique_lock<std::mutex>& lock, Group& storing,
                               SteadyClock::time_point started) {
    holds_ = false;
    write_unstored(storing);
    write_unstored(waiting_);
    if (!changed_.wait_until(lock, started + kTooSlow, [this] { return answered_; }))
        return give_up("the disk takes longer than a second to store what was written");
    holds_ = true;
    if (!std::exchange(told_, true))
        run_log().warn("Recording {}: the disk was so late with what was written that the frames had to be "
                       "named in the file before; a power cut then would have left them incomplete.",
                       path_);
}

/// Everything up to `bytes`, in parts as long as somebody waits for it, and what the system needs to find it.
/// Returns an error number, or 0.
int StorageBarrier::store(std::uint64_t bytes) {
    if (stored_ == 0) { // the name of the file
        const File folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder.fd() >= 0 && ::fsync(folder.fd()) != 0 && errno != EINVAL)
            return errno;
    }
    constexpr std::uint64_t kPart = std::uint64_t{8} << 20;
    while (stored_ < bytes && !enough_) {
        const std::uint64_t part = std::min(kPart, bytes - stored_);
        if (const int error = send_to_storage(frames_.fd(), stored_, part); error != 0)
            return error;
        stored_ += part;
    }
    if (enough_)
        return 0;
    const bool named = &names_ == &frames_ || ::fdatasync(names_.fd()) == 0; // of the group before
    return named && ::fdatasync(frames_.fd()) == 0 ? 0 : errno;
}

/// Whole or not at all: half a line says nothing, and what names a frame is too short to be cut.
int StorageBarrier::put(const Group& group) {
    const int error = names_.write_at(group.offset, group.bytes.data(), group.bytes.size());
    if (error != 0 && kind_ == Kind::text && ::ftruncate(names_.fd(), static_cast<off_t>(group.offset)) != 0)
        run_log().debug("The end of the file beside {} cannot be cut off.", path_);
    return error;
}

void StorageBarrier::write(Group& group) {
    const int failed_before = error();
    const int error = failed_before == 0 ? put(group) : failed_before;
    const std::lock_guard lock(mutex_);
    if (error_ == 0)
        error_ = error;
    named_ += error == 0 ? group.frames : 0;
}

/// Under the mutex, as what is named at once must not come before it. Leaves the group empty.
int StorageBarrier::write_unstored(Group& group) {
    if (group.frames == 0)
        return 0;
    const Group late = std::exchange(group, {});
    const int error = error_ == 0 ? put(late) : error_;
    if (error_ == 0)
        error_ = error;
    named_ += error == 0 ? late.frames : 0;
    unstored_ += error == 0 ? late.frames : 0;
    return error;
}

/// Under the mutex, for the rest of the file.
void StorageBarrier::give_up(const std::string& why) {
    holds_ = false;
    enough_ = true;
    write_unstored(waiting_);
    run_log().warn("Recording {}: {}; from here on a power cut may leave frames in it that are incomplete.",
                   path_, why);
}

} // namespace specklescope
