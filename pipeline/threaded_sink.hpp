// Base of sinks with a thread of their own: a bounded queue, the thread, its status and close().
#pragma once

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"
#include "pipeline/sink.hpp"

#include <spdlog/spdlog.h>

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace specklescope {

/// Items have a size in units of the sink. A sink calls start() in open() or in its constructor, and close()
/// in its destructor. Functions that say "requires mutex_" are called with mutex_ locked.
template <class Item> class ThreadedSink : public Sink {
public:
    void close() noexcept final {
        const std::scoped_lock turn(close_mutex_);
        {
            const std::scoped_lock lock(mutex_);
            if (!running_)
                return;
            closing_ = true;
        }
        hurry();
        work_.notify_all();
        room_.notify_all();
        thread_.join();
        const std::scoped_lock lock(mutex_);
        running_ = false;
        status_.closed = true;
        after_close();
    }
    SinkStatus status() const override {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

protected:
    using Time = SteadyClock::time_point;
    struct Limits {
        std::size_t capacity;               ///< size of the queue; more is dropped and counted
        std::size_t many = capacity;        ///< size that is worked on without a pause
        std::chrono::milliseconds pause{0}; ///< between two calls of work()
        std::chrono::milliseconds longest_wait = std::chrono::years(1); ///< for room
    };
    explicit ThreadedSink(const Limits& limits) : limits_(limits) {}

    /// Starts the thread with an empty queue. Throws if no thread can be created.
    void start(SinkStatus status) {
        const std::scoped_lock lock(mutex_);
        status_ = std::move(status);
        closing_ = false;
        queue_.clear();
        size_ = busy_ = 0;
        thread_ = std::thread([this] { run(); });
        running_ = true;
    }
    /// Before a frame becomes an item. False if the queue is full; the frame then counts as dropped.
    bool has_room(bool may_wait) {
        std::unique_lock lock(mutex_);
        if (!running_)
            return false;
        if (may_wait)
            room_.wait_for(lock, limits_.longest_wait,
                           [this] { return size_ < limits_.capacity || stopped(); });
        if (size_ < limits_.capacity && !stopped())
            return true;
        ++status_.dropped;
        return false;
    }
    /// Called from any thread, for a frame after has_room(). Only frames count in the status.
    void add(Item item, std::size_t size, bool is_frame) {
        const std::scoped_lock lock(mutex_);
        if (!running_)
            return;
        (stopped() ? status_.dropped : status_.queued) += is_frame ? 1 : 0;
        if (stopped())
            return;
        size_ += size;
        queue_.push_back(std::move(item));
        work_.notify_one();
    }
    bool stopped() const { return closing_ || !status_.error.empty(); } ///< requires mutex_

    // Called on the thread. An exception, whose text is a sentence, stops the sink with an error; work() and
    // finish() are still called.
    virtual void work(std::deque<Item>& items) = 0; ///< without items at wakes_at() and at the end
    virtual void finish() {}                        ///< after the last work()
    virtual void fail(const std::string& sentence) {
        const std::scoped_lock lock(mutex_);
        if (!status_.error.empty())
            return;
        run_log().error("{}", sentence);
        status_.error = sentence;
    }
    // Called on the thread, except the last; these require mutex_.
    virtual bool ready() const { return !queue_.empty(); }
    virtual bool ended() const { return false; } ///< the thread ends without close(), once the queue is empty
    virtual Time wakes_at() const { return SteadyClock::now() + std::chrono::years(1); }
    virtual std::deque<Item> take() { return std::exchange(queue_, {}); } ///< items for one call of work()
    virtual void after_close() {}

    const Limits limits_;
    mutable std::mutex mutex_;
    std::condition_variable work_, room_;
    std::deque<Item> queue_;
    std::size_t size_ = 0, busy_ = 0; ///< of the queue; items in work()
    SinkStatus status_;
    bool running_ = false, closing_ = false;

private:
    void run() {
        HeldSignal::hold_here(SIGXFSZ); // of libraries that write
        const auto guarded = [this](auto&& step) {
            try {
                step();
            } catch (const std::exception& error) {
                fail(sentence_of(error));
            }
        };
        std::unique_lock lock(mutex_);
        Time earliest{};
        for (bool last = false; !last;) {
            const auto due = [this] { return closing_ || ended() || ready(); };
            work_.wait_until(lock, wakes_at(), due);
            if (limits_.pause.count() > 0) // a wait until now is a system call, too
                work_.wait_until(lock, earliest, [this] { return closing_ || size_ >= limits_.many; });
            std::deque<Item> items = take();
            busy_ = items.size();
            size_ = 0;
            last = (closing_ || ended()) && queue_.empty();
            lock.unlock();
            room_.notify_all();
            guarded([&] { work(items); });
            items.clear();
            lock.lock();
            busy_ = 0;
            earliest = SteadyClock::now() + limits_.pause;
            room_.notify_all();
        }
        lock.unlock();
        guarded([this] { finish(); });
    }

    std::mutex close_mutex_; ///< serializes calls of close()
    std::thread thread_;
};

} // namespace specklescope
