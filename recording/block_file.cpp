#include "recording/block_file.hpp"

#include "base/log.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <linux/magic.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

constexpr std::size_t kDirectAlign = 4096; ///< of memory, places and sizes of direct writes
/// Direct writes need large blocks; copies into the page cache need blocks that stay in the processor's
/// cache.
constexpr std::size_t kDirectBlock = std::size_t{8} << 20, kCachedBlock = std::size_t{1} << 20;
constexpr std::size_t kMostBlockBytes = std::size_t{512} << 20; ///< in blocks
/// A kill loses what is not written: a second with the time that frames wait elsewhere.
constexpr auto kLatest = 700ms, kKeptEvery = 100ms;

bool is_in_memory(int fd) {
    struct statfs system {};
    return ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}
} // namespace

void BlockFile::Free::operator()(std::byte* memory) const { std::free(memory); }

BlockFile::BlockFile(const File& file, bool sync, int index) : file_(file) {
    if (!is_in_memory(file.fd())) {
        go_past_cache(true);
        direct_ = past_;
    }
    block_bytes_ = direct_ ? kDirectBlock : kCachedBlock;
    while (!(block_ = take_memory()) || !free_.emplace_back(take_memory())) { // at least two
        free_.clear();
        blocks_ = 0;
        if (block_bytes_ == kDirectAlign)
            throw std::bad_alloc();
        block_bytes_ /= 2;
    }
    if (sync)
        sync_.emplace(file.fd(), index);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::exception& error) { // no thread: append() writes
        run_log().debug("No thread to write a file: {}", error.what());
    }
}

void BlockFile::go_past_cache(bool past) {
    if (past == past_)
        return;
    const int flags = ::fcntl(file_.fd(), F_GETFL);
    if (::fcntl(file_.fd(), F_SETFL, past ? flags | O_DIRECT : flags & ~O_DIRECT) == 0)
        past_ = past;
}

/// Null without memory. Requires mutex_, except in the constructor.
BlockFile::Memory BlockFile::take_memory() {
    if (!free_.empty()) {
        Memory memory = std::move(free_.back());
        free_.pop_back();
        return memory;
    }
    Memory memory(static_cast<std::byte*>(std::aligned_alloc(kDirectAlign, block_bytes_)));
    if (memory) {
        ::madvise(memory.get(), block_bytes_, MADV_HUGEPAGE);
        ++blocks_;
    }
    return memory;
}

/// Requires mutex_.
bool BlockFile::is_late() const {
    return !steps_.empty() && std::chrono::steady_clock::now() - steps_.front().added > kLatest;
}

bool BlockFile::has_room(std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t most = kMostBlockBytes - std::min<std::uint64_t>(kMostBlockBytes / 2, bytes);
    return error_ != 0 || (!is_late() && (blocks_ - free_.size()) * block_bytes_ <= most);
}

int BlockFile::append(const std::vector<iovec>& parts) {
    for (const iovec& part : parts)
        append(static_cast<const std::byte*>(part.iov_base), part.iov_len);
    const std::lock_guard lock(mutex_);
    return error_;
}

int BlockFile::append(const std::string& bytes) {
    append(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    const std::lock_guard lock(mutex_);
    return error_;
}

void BlockFile::append(const std::byte* data, std::size_t bytes) {
    while (bytes > 0) {
        const std::size_t some = std::min(bytes, block_bytes_ - filled_);
        std::memcpy(block_.get() + filled_, data, some);
        filled_ += some;
        data += some;
        bytes -= some;
        if (filled_ == block_bytes_)
            pass_block(true);
    }
}

/// Passes the block to the thread; waits for memory and, if `in_time`, for a late disk. The next block begins
/// with the bytes after the last aligned place, which are written again.
void BlockFile::pass_block(bool in_time) {
    if (filled_ == passed_)
        return;
    Memory next;
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            return error_ != 0 || !thread_.joinable() || steps_.empty() ||
                   (!(in_time && is_late()) && (blocks_ - free_.size()) * block_bytes_ < kMostBlockBytes);
        });
        while (!(next = take_memory()))
            changed_.wait(lock);
    }
    const std::size_t tail = filled_ % kDirectAlign, begin = filled_ - tail;
    std::memcpy(next.get(), block_.get() + begin, tail);
    pass({.block = std::exchange(block_, std::move(next)), .offset = offset_, .size = filled_});
    offset_ += begin;
    filled_ = passed_ = tail;
}

void BlockFile::pass(Step step) {
    step.added = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        steps_.push_back(std::move(step));
    }
    changed_.notify_all();
    if (!thread_.joinable())
        run_step();
}

int BlockFile::then(const File& file, std::uint64_t offset, std::string bytes,
                    const std::optional<Kept>& kept) {
    pass_block(false);
    if (kept) {
        kept_end_ = offset_ + filled_;
        next_kept_ = std::chrono::steady_clock::now() + kKeptEvery;
    }
    if (&file == &file_) // the next block begins with bytes that were passed on
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (offset + i >= offset_ && offset + i < offset_ + filled_)
                block_.get()[offset + i - offset_] = static_cast<std::byte>(bytes[i]);
    pass({.offset = offset, .file = &file, .bytes = std::move(bytes), .kept = kept});
    const std::lock_guard lock(mutex_);
    return error_;
}

bool BlockFile::is_due() const {
    const std::uint64_t end = offset_ + filled_;
    return (end - kept_end_) * 16 >= end || std::chrono::steady_clock::now() >= next_kept_;
}

BlockFile::Kept BlockFile::kept() const {
    const std::lock_guard lock(mutex_);
    return kept_;
}

int BlockFile::stop() {
    pass_block(false);
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
    go_past_cache(false);
    const int late = sync_ ? sync_->stop() : 0;
    if (error_ == 0)
        error_ = late;
    return error_;
}

// On the thread.

void BlockFile::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stop_ || !steps_.empty(); });
        if (steps_.empty())
            return;
        lock.unlock();
        run_step();
        lock.lock();
    }
}

/// Nothing is written after an error, so that kept() stays true.
void BlockFile::run_step() {
    std::unique_lock lock(mutex_);
    Step& step = steps_.front();
    const bool well = error_ == 0;
    lock.unlock();
    const int error = well ? write(step) : 0;
    lock.lock();
    if (error != 0)
        error_ = error;
    else if (well && step.kept)
        kept_ = *step.kept;
    if (step.block)
        free_.push_back(std::move(step.block));
    steps_.pop_front();
    lock.unlock();
    changed_.notify_all();
}

int BlockFile::write(const Step& step) {
    if (step.block) {
        const int error = write_block(step);
        return error == 0 && sync_ ? sync_->advance(step.offset + step.size) : error;
    }
    if (step.file == &file_)
        go_past_cache(false);
    return step.file->write_at(step.offset, step.bytes.data(), step.bytes.size());
}

int BlockFile::write_block(const Step& step) {
    std::size_t done = direct_ ? step.size / kDirectAlign * kDirectAlign : 0;
    if (done > 0) {
        go_past_cache(true);
        const int error = file_.write_at(step.offset, step.block.get(), done);
        if (error != 0 && error != EINVAL)
            return error;
        if (error == EINVAL) { // the file system refuses it after all
            direct_ = false;
            done = 0;
        }
    }
    go_past_cache(false);
    return file_.write_at(step.offset + done, step.block.get() + done, step.size - done);
}

} // namespace specklescope
