#include "recording/block_file.hpp"

#include "base/log.hpp"

#include <sys/mman.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace specklescope {

namespace {
using namespace std::chrono_literals;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20; ///< stays in the processor's cache
constexpr std::size_t kLeastBlockBytes = 4096;
constexpr std::size_t kMostBlockBytes = std::size_t{512} << 20; ///< in blocks
/// A kill loses what is not written: a second with the time that frames wait elsewhere.
constexpr auto kLatest = 700ms, kKeptEvery = 100ms;

} // namespace

void BlockFile::Free::operator()(std::byte* memory) const { std::free(memory); }

BlockFile::BlockFile(const File& file, bool sync, int index) : file_(file), block_bytes_(kBlockBytes) {
    while (!(block_ = take_memory())) {
        if (block_bytes_ == kLeastBlockBytes)
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

/// Null without memory. Requires mutex_, except in the constructor. Memory grows by two blocks, which are a
/// huge page: its first use costs much less than that of 512 small ones.
std::byte* BlockFile::take_memory() {
    if (free_.empty()) {
        Memory pair(static_cast<std::byte*>(std::aligned_alloc(2 * block_bytes_, 2 * block_bytes_)));
        if (!pair)
            return nullptr;
        ::madvise(pair.get(), 2 * block_bytes_, MADV_HUGEPAGE);
        free_ = {pair.get() + block_bytes_, pair.get()};
        pairs_.push_back(std::move(pair));
    }
    std::byte* block = free_.back();
    free_.pop_back();
    return block;
}

/// Requires mutex_.
bool BlockFile::is_late() const {
    return !steps_.empty() && std::chrono::steady_clock::now() - steps_.front().added > kLatest;
}

bool BlockFile::has_room(std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t most = kMostBlockBytes - std::min<std::uint64_t>(kMostBlockBytes / 2, bytes);
    return error_ != 0 || (!is_late() && (2 * pairs_.size() - free_.size()) * block_bytes_ <= most);
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
        std::memcpy(block_ + filled_, data, some);
        filled_ += some;
        data += some;
        bytes -= some;
        if (filled_ == block_bytes_)
            pass_block(true);
    }
}

/// Passes the block to the thread; waits for memory and, if `in_time`, for a late disk.
void BlockFile::pass_block(bool in_time) {
    if (filled_ == 0)
        return;
    std::byte* next = nullptr;
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            return error_ != 0 || !thread_.joinable() || steps_.empty() ||
                   (!(in_time && is_late()) &&
                    (2 * pairs_.size() - free_.size()) * block_bytes_ < kMostBlockBytes);
        });
        while (!(next = take_memory()))
            changed_.wait(lock);
    }
    pass({.block = std::exchange(block_, next), .offset = offset_, .size = filled_});
    offset_ += filled_;
    filled_ = 0;
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
        free_.push_back(step.block);
    steps_.pop_front();
    lock.unlock();
    changed_.notify_all();
}

int BlockFile::write(const Step& step) {
    if (!step.block)
        return step.file->write_at(step.offset, step.bytes.data(), step.bytes.size());
    const int error = file_.write_at(step.offset, step.block, step.size);
    return error == 0 && sync_ ? sync_->advance(step.offset + step.size) : error;
}

} // namespace specklescope
