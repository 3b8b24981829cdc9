// Base of sinks that write numbers instead of images: a bounded queue and a writing thread.
#pragma once

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"
#include "pipeline/sink.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace specklescope {

/// The part of a batch that is in the file.
struct Written {
    std::uint64_t frames = 0; ///< complete frames from the first on; a part of the next may be in the file
    std::uint64_t bytes = 0;
};

/// Items have a size in units of the sink. A sink calls start() in its open() and close() in its destructor.
template <class Item> class BatchSink : public Sink {
public:
    struct Limits {
        std::size_t most; ///< capacity of the queue; more is dropped and counted
        std::size_t many; ///< is written without a pause
    };
    BatchSink(const BatchSink&) = delete;
    BatchSink& operator=(const BatchSink&) = delete;

    void close() noexcept final {
        const std::scoped_lock turn(close_mutex_);
        {
            const std::scoped_lock lock(mutex_);
            if (!running_)
                return;
            closing_ = true;
        }
        work_.notify_all();
        room_.notify_all();
        thread_.join();
        const std::scoped_lock lock(mutex_);
        running_ = false;
        status_.closed = true;
    }
    SinkStatus status() const final {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

protected:
    explicit BatchSink(const Limits& limits) : limits_(limits) {}

    /// `status` is of the new file.
    void start(SinkStatus status) {
        const std::scoped_lock lock(mutex_);
        status_ = std::move(status);
        closing_ = failed_ = false;
        queue_.clear();
        size_ = 0;
        thread_ = std::thread([this] { run(); }); // may throw: nothing runs then
        running_ = true;
    }

    /// Called on the processing thread before a frame becomes an item. False if the queue is full; the frame
    /// is then counted as dropped.
    bool has_room(bool may_wait) {
        std::unique_lock lock(mutex_);
        if (!running_)
            return false;
        if (may_wait)
            room_.wait(lock, [this] { return size_ < limits_.most || stopped(); });
        if (size_ < limits_.most && !stopped())
            return true;
        ++status_.dropped;
        return false;
    }
    /// Called from any thread, for a frame after has_room(). Only frames count in the status.
    void add(Item item, std::size_t size) {
        {
            const std::scoped_lock lock(mutex_);
            const std::uint64_t frames = is_frame(item) ? 1 : 0;
            if (!running_)
                return;
            if (stopped()) {
                status_.dropped += frames;
                return;
            }
            size_ += size;
            status_.queued += frames;
            queue_.push_back(std::move(item));
        }
        work_.notify_one();
    }
    std::uint64_t dropped() const { return status().dropped; }

    virtual bool is_frame(const Item&) const { return true; }
    // Called on the writing thread. An exception, whose text is a sentence, stops this sink with an error;
    // finish() is still called.
    /// Sets `written`, also where it throws.
    virtual void write(const std::vector<Item>& items, Written& written) = 0;
    /// Throws RunError. `well`: everything accepted was written. dropped() counts the rest.
    virtual void finish(bool well) = 0;

private:
    /// Between two writes, unless the queue has `many`.
    static constexpr std::chrono::milliseconds kPause{200};

    /// Requires mutex_.
    bool stopped() const { return closing_ || !status_.error.empty(); }

    void run() {
        HeldSignal::hold_here(SIGXFSZ); // of libraries that write
        std::unique_lock lock(mutex_);
        while (true) {
            work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
            // Later items are written together with the first.
            work_.wait_for(lock, kPause, [this] { return closing_ || size_ >= limits_.many; });
            const bool last = closing_; // no item is added after it
            const std::vector<Item> items = std::exchange(queue_, {});
            size_ = 0;
            lock.unlock();
            room_.notify_all();
            write_all(items, last);
            if (last)
                return;
            lock.lock();
        }
    }

    /// Catches every exception.
    void write_all(const std::vector<Item>& items, bool last) {
        std::string error;
        const auto guarded = [&](auto&& work) {
            try {
                work();
            } catch (const std::exception& thrown) {
                if (error.empty() && !failed_)
                    error = sentence_of(thrown);
            }
        };
        Written written;
        if (!failed_)
            guarded([&] { write(items, written); });
        count(items, written);
        if (last)
            guarded([&] { finish(!failed_ && error.empty()); });
        if (error.empty())
            return;
        run_log().error("{}", error);
        failed_ = true;
        const std::scoped_lock lock(mutex_);
        status_.error = error;
        room_.notify_all();
    }

    void count(const std::vector<Item>& items, const Written& written) {
        const auto frames = static_cast<std::uint64_t>(
            std::count_if(items.begin(), items.end(), [this](const Item& item) { return is_frame(item); }));
        const std::scoped_lock lock(mutex_);
        status_.queued -= frames;
        status_.written += written.frames;
        status_.dropped += frames - written.frames;
        status_.bytes += written.bytes;
    }

    const Limits limits_;
    mutable std::mutex mutex_;
    std::condition_variable work_, room_;
    std::vector<Item> queue_;
    std::size_t size_ = 0; ///< of the queue
    SinkStatus status_;
    bool running_ = false, closing_ = false;
    std::mutex close_mutex_; ///< serializes calls of close()
    std::thread thread_;
    bool failed_ = false; ///< used by the writing thread while it runs
};

} // namespace specklescope
