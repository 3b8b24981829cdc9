// Work beside the thread that draws, of which only the newest request counts.
#pragma once

#include "ui/canvas/window.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <utility>

namespace specklescope {

/// One piece of work at a time; what is asked for meanwhile waits, and takes the place of what waited before.
/// The destructor waits for what runs. Work does not throw: it returns its error.
template <class T> class Later {
public:
    void ask(std::function<T()> work) {
        waiting_ = std::move(work);
        poll();
    }
    /// Once a drawn frame. True if there is a new result.
    bool poll() {
        bool news = false;
        if (running_.valid() && running_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
            result_ = running_.get();
            news = true;
        }
        if (!running_.valid() && waiting_)
            running_ = std::async(std::launch::async, [work = std::exchange(waiting_, nullptr)] {
                T result = work();
                wake_window();
                return result;
            });
        return news;
    }
    bool busy() const { return running_.valid() || waiting_; }
    const std::optional<T>& result() const { return result_; }
    void forget() { result_.reset(); }

private:
    std::future<T> running_;
    std::function<T()> waiting_;
    std::optional<T> result_;
};

} // namespace specklescope
