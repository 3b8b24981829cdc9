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
    /// Cancels the task and forgets the result.
    void clear() {
        waiting_ = nullptr;
        result_.reset();
        cancel();
    }
    bool busy() const { return running_.valid() || waiting_; }
    /// Progress of the running task, 0…1, by its calls of work_goes_on().
    double part() const { return watched_ ? watched_->part.load() : 0; }
    const std::optional<T>& result() const { return result_; }

private:
    void begin() {
        watched_ = std::make_shared<Watched>();
        running_ =
            std::async(std::launch::async,
                       [work = std::exchange(waiting_, nullptr), watched = watched_]() -> std::optional<T> {
                           bool stopped = false;
                           const WatchWork watch([&](std::string_view, double part) {
                               constexpr double kStep = 0.01; // at which the window is drawn again
                               if (part >= watched->part + kStep) {
                                   watched->part = part;
                                   wake_window();
                               }
                               stopped = watched->cancelled;
                               return !stopped;
                           });
                           std::optional<T> made = work();
                           wake_window();
                           return stopped ? std::nullopt : std::move(made);
                       });
    }
    void cancel() {
        if (watched_)
            watched_->cancelled = true;
    }

    struct Watched {
        std::atomic<bool> cancelled{false};
        std::atomic<double> part{0};
    };
    std::shared_ptr<Watched> watched_; ///< of the running task
    std::future<std::optional<T>> running_;
    std::function<T()> waiting_;
    std::optional<T> result_;
};

} // namespace specklescope
