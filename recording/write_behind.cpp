#include "recording/write_behind.hpp"

#include "base/log.hpp"

#include <fcntl.h>

#include <spdlog/spdlog.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace specklescope {

namespace {
constexpr std::uint64_t kPiece = std::uint64_t{8} << 20; ///< sent at once: whole pages; a guess

struct Piece {
    off64_t begin = 0, bytes = 0;
};

/// An error number of the storage, or 0. A file that cannot be sent in parts is left to the system.
int sync_range(int file, const Piece& piece, unsigned flags) {
    if (::sync_file_range(file, piece.begin, piece.bytes, flags) == 0)
        return 0;
    return errno == EIO || errno == ENOSPC || errno == EDQUOT ? errno : 0;
}

/// Waits until the storage has it.
int release(int file, const Piece& piece) {
    if (piece.bytes == 0) // would mean the whole file
        return 0;
    const int error = send_to_storage(file, static_cast<std::uint64_t>(piece.begin),
                                      static_cast<std::uint64_t>(piece.bytes));
    ::posix_fadvise(file, piece.begin, piece.bytes, POSIX_FADV_DONTNEED);
    return error;
}
} // namespace

int send_to_storage(int file, std::uint64_t begin, std::uint64_t bytes) {
    constexpr unsigned kWhole =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_range(file, {static_cast<off64_t>(begin), static_cast<off64_t>(bytes)}, kWhole);
}

int WriteBehind::advance(int file, std::uint64_t end) {
    if (end < kKept + kPiece)
        return 0;
    {
        const std::lock_guard lock(mutex_);
        end_ = end;
    }
    if (thread_.joinable()) {
        more_.notify_one();
    } else if (!stop_) {
        try {
            thread_ = std::thread([this, file] { run(file); });
        } catch (const std::system_error& error) {
            stop_ = true;
            run_log().debug("No thread to write behind, the system does it: {}", error.what());
        }
    }
    return error_;
}

int WriteBehind::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    more_.notify_one();
    if (thread_.joinable())
        thread_.join();
    return error_;
}

void WriteBehind::run(int file) {
    std::uint64_t sent = kKept;
    Piece before; // on its way: its pages go when the next piece has been sent
    std::unique_lock lock(mutex_);
    while (true) {
        more_.wait(lock, [&] { return stop_ || end_ >= sent + kPiece; });
        if (stop_)
            return;
        // never more than this at once: who stops waits for what is on its way
        const Piece piece{static_cast<off64_t>(sent), static_cast<off64_t>(kPiece)};
        sent += kPiece;
        lock.unlock();
        int error = sync_range(file, piece, SYNC_FILE_RANGE_WRITE);
        if (const int late = release(file, std::exchange(before, piece)); late != 0)
            error = late;
        if (error != 0)
            error_ = error;
        lock.lock();
    }
}

} // namespace specklescope
