// Sends a growing file to the storage while it is written, and lets its pages go from the system's cache.
//
// Left to itself the system takes ever new pages for a recording until its limit for unwritten ones is
// reached, and then holds up the writer. New pages are the larger part of the price of a write: in a virtual
// machine 0.4 GB/s went into a file with them and 1.9 GB/s where pages come back in time. A thread of its own
// waits for the storage, so that the writer never does: behind a slow one pages pile up as they always did.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace specklescope {

/// Waits until the storage has these bytes of a file, without what the system needs to find them. Returns an
/// error number of the storage, or 0: a file that cannot be sent in parts is left to the system.
int send_to_storage(int file, std::uint64_t begin, std::uint64_t bytes);

class WriteBehind {
public:
    /// What is smaller stays in the cache: pictures, and the beginning of a file, which is brought up to date
    /// later.
    static constexpr std::uint64_t kKept = std::uint64_t{16} << 20;

    WriteBehind() = default;
    ~WriteBehind() { stop(); }
    WriteBehind(const WriteBehind&) = delete;
    WriteBehind& operator=(const WriteBehind&) = delete;

    /// Everything before `end` is written and will not change. Never waits. `file` stays open until stop().
    /// Returns the error number that the storage gave for earlier bytes; 0: none.
    int advance(int file, std::uint64_t end);
    /// Waits for two pieces of 8 MiB at most. Returns the error number as above.
    int stop();

private:
    void run(int file);

    std::mutex mutex_;
    std::condition_variable more_;
    std::uint64_t end_ = 0;
    bool stop_ = false;
    std::atomic<int> error_{0};
    std::thread thread_; ///< none before there is enough to send
};

} // namespace specklescope
