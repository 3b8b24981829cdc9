// Background work of which only the newest request counts.
#pragma once

#include "base/long_work.hpp"
#include "ui/canvas/window.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace specklescope {

/// Runs one task at a time. A new request waits and replaces the waiting one. A task that calls
/// work_goes_on() ends with Cancelled when a newer request waits, or on destruction. The destructor waits
/// for the task. Tasks must not throw: they return their error.
template <class T> class Later {
public:
    Later() = default;
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;
    ~Later() { cancel(); }

    void ask(std::function<T()> work) {
        waiting_ = std::move(work);
        cancel();
        if (!running_.valid()) // otherwise poll() takes its result first
            begin();
    }
    /// Call once per drawn frame. True if there is a new result.
    bool poll() {
        bool news = false;
        if (running_.valid() && running_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
            std::optional<T> made = running_.get();
            news = made.has_value();
            if (news)
                result_ = std::move(made);
        }
        if (!running_.valid() && waiting_)
            begin();
        return news;
    }
    bool busy() const { return running_.valid() || waiting_; }
    const std::optional<T>& result() const { return result_; }

private:
    void begin() {
        cancelled_ = std::make_shared<std::atomic<bool>>(false);
        running_ = std::async(
            std::launch::async,
            [work = std::exchange(waiting_, nullptr), cancelled = cancelled_]() -> std::optional<T> {
                bool stopped = false;
                const WatchWork watch([&](std::string_view, double) {
                    stopped = *cancelled;
                    return !stopped;
                });
                std::optional<T> made = work();
                wake_window();
                return stopped ? std::nullopt : std::move(made);
            });
    }
    void cancel() {
        if (cancelled_)
            *cancelled_ = true;
    }

    std::shared_ptr<std::atomic<bool>> cancelled_; ///< of the running task
    std::future<std::optional<T>> running_;
    std::function<T()> waiting_;
    std::optional<T> result_;
};

} // namespace specklescope
