#include "recording/disk_sync.hpp"

#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include <cerrno>
#include <exception>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20; ///< a multiple of the page size; a guess
constexpr auto kEvery = 1s;

/// Returns `error` if it means that data is lost, otherwise 0; other errors come from files that cannot be
/// synchronised.
int lost(int error) {
    return error == EIO || error == ENOSPC || error == EDQUOT || error == EFBIG ? error : 0;
}

int send(int file, std::uint64_t begin, unsigned flags) {
    const int rc = ::sync_file_range(file, static_cast<off64_t>(begin), static_cast<off64_t>(kPiece), flags);
    return rc == 0 ? 0 : lost(errno);
}

int store(std::initializer_list<int> files) {
    int error = 0;
    for (const int file : files)
        if (file >= 0 && ::fdatasync(file) != 0 && error == 0)
            error = lost(errno);
    return error;
}
} // namespace

int TimedSync::sync(std::initializer_list<int> files) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_)
        return 0;
    next_ = now + kEvery;
    return store(files);
}

int DiskSync::advance(std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    const bool piece = end / kPiece > end_ / kPiece;
    end_ = end;
    if (!thread_.joinable() && !stop_) {
        try {
            thread_ = std::thread([this] { run(); });
        } catch (const std::exception& error) { // no thread or no memory
            stop_ = true;
            run_log().debug("No thread to store a file, the system does it: {}", error.what());
        }
    } else if (piece) {
        changed_.notify_one();
    }
    return error_;
}

int DiskSync::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable())
        thread_.join();
    return error_;
}

/// Sends a piece to the disk, then waits for the previous piece, so that the disk is never idle.
int DiskSync::store_piece() {
    int error = send(file_, sent_, SYNC_FILE_RANGE_WRITE);
    sent_ += kPiece;
    if (sent_ - stored_ <= kPiece)
        return error;
    constexpr unsigned kWhole =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (const int late = send(file_, stored_, kWhole); late != 0)
        error = late;
    if (stored_ >= kKept)
        ::posix_fadvise(file_, static_cast<off_t>(stored_), static_cast<off_t>(kPiece), POSIX_FADV_DONTNEED);
    stored_ += kPiece;
    return error;
}

void DiskSync::run() {
    auto next = std::chrono::steady_clock::now() + kEvery;
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait_until(lock, next, [this] { return stop_ || end_ >= sent_ + kPiece; });
        const bool stop = stop_, piece = end_ >= sent_ + kPiece;
        if (stop && end_ >= sent_ + 2 * kPiece) // a slow disk: the kernel writes the rest
            return;
        lock.unlock();
        const int error = piece && !stop ? store_piece() : store({file_, index_});
        if (stop || !piece)
            next = std::chrono::steady_clock::now() + kEvery;
        lock.lock();
        if (error_ == 0)
            error_ = error;
        if (stop)
            return;
    }
}

} // namespace specklescope
