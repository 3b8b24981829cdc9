// Appends to a file through blocks of memory, on a thread of its own: the caller copies its frames and waits
// for no disk.
// Blocks are written in order through the page cache, which also takes what is faster than the disk for a
// while. Past the cache (O_DIRECT) live recordings lost frames that the cache takes (docs/performance.md).
#pragma once

#include "files/whole_file.hpp"
#include "recording/disk_sync.hpp"

#include <sys/uio.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace specklescope {

class BlockFile {
public:
    /// Frames that a reader finds in the file, and where the complete part of it and of its index end.
    struct Kept {
        std::uint64_t frames = 0, bytes = 0, index_bytes = 0;
    };

    /// An empty file, which outlives this. With `sync`, it and `index` (unless -1) are stored on the disk
    /// while they grow.
    explicit BlockFile(const File& file, bool sync = false, int index = -1);
    ~BlockFile() { stop(); }
    BlockFile(const BlockFile&) = delete;
    BlockFile& operator=(const BlockFile&) = delete;

    /// True if so many bytes can be appended now: there is memory, and the disk is less than a second late.
    bool has_room(std::uint64_t bytes) const;
    // These return the first error number, 0: none. append() waits while the disk is late.
    int append(const std::vector<iovec>& parts);
    int append(const std::string& bytes);
    /// Writes over bytes of the file, or into another one, after all that was appended before. The file then
    /// contains `kept`, if given.
    int then(const File& file, std::uint64_t offset, std::string bytes, const std::optional<Kept>& kept = {});
    /// True if readers need a `kept` of what was appended: after 100 ms, so that a kill loses little, or a
    /// sixteenth of the file, so that a full disk does.
    bool is_due() const;
    /// Contents of the file after an error.
    Kept kept() const;
    /// Writes what is left and ends the thread.
    int stop();

private:
    using Time = std::chrono::steady_clock::time_point;
    struct Free {
        void operator()(std::byte* memory) const;
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    /// A block of this file, or a few bytes of any.
    struct Step {
        std::byte* block = nullptr;
        std::uint64_t offset = 0;
        std::size_t size = 0; ///< of the block
        Time added{};
        const File* file = nullptr;
        std::string bytes{};
        std::optional<Kept> kept{};
    };

    void append(const std::byte* data, std::size_t bytes);
    void pass_block(bool in_time);
    void pass(Step step);
    bool is_late() const;
    std::byte* take_memory();
    void run();
    void run_step();
    int write(const Step& step);

    const File& file_;
    std::size_t block_bytes_;
    // The block being filled: its place in the file and its bytes.
    std::byte* block_ = nullptr;
    std::uint64_t offset_ = 0;
    std::size_t filled_ = 0;
    // Place and time limit of the last `kept`.
    std::uint64_t kept_end_ = 0;
    Time next_kept_{};

    mutable std::mutex mutex_; ///< guards the next ones
    std::condition_variable changed_;
    std::deque<Step> steps_;    ///< the first one is being written
    std::vector<Memory> pairs_; ///< of blocks: a huge page each
    std::vector<std::byte*> free_;
    Kept kept_;
    int error_ = 0;
    bool stop_ = false;
    std::optional<DiskSync> sync_;
    std::thread thread_;
};

} // namespace specklescope
