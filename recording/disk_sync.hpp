// Stores a file on the disk while it grows: about once a second, on a thread of its own.
//
// Without it the system keeps a recording in its page cache until the limit for unwritten pages is reached,
// and then blocks the writer. Most of the cost of a write is new pages: a virtual machine wrote 0.4 GB/s
// with new pages, and 1.9 GB/s if stored pages return to the system. The writer
// never waits for the disk; with a slow disk the page cache fills as it does without this class.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <thread>

namespace specklescope {

/// fdatasync() once a second at most, for threads that may wait for the disk.
class TimedSync {
public:
    /// Returns an error number if bytes are lost, else 0.
    int sync(std::initializer_list<int> files);

private:
    std::chrono::steady_clock::time_point next_{};
};

class DiskSync {
public:
    /// The first bytes stay in the page cache: they are updated later, and small files fit in it.
    static constexpr std::uint64_t kKept = std::uint64_t{16} << 20;

    /// `file`, and `index` unless it is -1, are stored with fdatasync(). They stay open until stop().
    explicit DiskSync(int file, int index = -1) : file_(file), index_(index) {}
    ~DiskSync() { stop(); }
    DiskSync(const DiskSync&) = delete;
    DiskSync& operator=(const DiskSync&) = delete;

    /// Bytes of `file` before `end` are written and do not change any more. Never blocks. Returns the first
    /// error number of the disk; 0: none.
    int advance(std::uint64_t end);
    /// Stores the rest unless the disk is too slow, and ends the thread. Waits for 24 MiB at most. Returns
    /// the error number as above.
    int stop();

private:
    void run();
    int store_piece();

    const int file_, index_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t end_ = 0;
    bool stop_ = false;
    int error_ = 0;
    std::thread thread_; ///< started by the first advance()
    // Used by the thread only.
    std::uint64_t sent_ = 0;   ///< pieces before it were given to the disk
    std::uint64_t stored_ = 0; ///< pieces before it are on the disk
};

} // namespace specklescope
