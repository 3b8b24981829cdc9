#include "sources/gst/gst_closer.hpp"

#include "base/log.hpp"
#include "sources/gst/gst_source.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

/// Threads that stop pipelines and cameras. The destructor, at process exit, joins the rest, for as long as
/// needed: GStreamer waits forever for a thread that the system did not provide.
class Closer {
public:
    Closer() = default;
    Closer(const Closer&) = delete;
    Closer& operator=(const Closer&) = delete;
    ~Closer() {
        const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(15);
        for (Entry& entry : closing_)
            if (entry.done.wait_until(latest) != std::future_status::ready)
                new std::future<void>(std::move(entry.done)); // NOLINT: its destructor would wait
    }
    void retire(std::function<void()> stop, const std::string& key, std::chrono::milliseconds patience) {
        // The captured objects must be destroyed on that thread too: a copy here would wait.
        const auto held = std::make_shared<std::function<void()>>(std::move(stop));
        std::future<void> done; // joins its thread on destruction
        try {
            done = std::async(std::launch::async, [held] {
                (*held)();
                *held = nullptr;
            });
        } catch (const std::system_error& error) {
            run_log().debug("{} is stopped on this thread: {}", key, error.what());
            return (*held)();
        }
        if (done.wait_for(patience) == std::future_status::ready)
            return;
        const std::lock_guard lock(mutex_);
        sweep();
        closing_.push_back({key, std::move(done)});
    }
    bool busy(const std::string& key) {
        const std::lock_guard lock(mutex_);
        sweep();
        return std::any_of(closing_.begin(), closing_.end(),
                           [&](const Entry& entry) { return entry.key == key; });
    }
    int count() {
        const std::lock_guard lock(mutex_);
        sweep();
        return static_cast<int>(closing_.size());
    }

private:
    struct Entry {
        std::string key;
        std::future<void> done;
    };
    void sweep() {
        std::erase_if(closing_, [](const Entry& entry) {
            return entry.done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
    }
    std::mutex mutex_;
    std::vector<Entry> closing_;
};

Closer& closer() {
    static Closer instance;
    return instance;
}

} // namespace

void retire_pipeline(GstHandle<GstElement> pipeline, const std::string& key,
                     std::chrono::milliseconds patience) {
    retire_device(
        [held = std::shared_ptr<GstElement>(std::move(pipeline))]() mutable {
            gst_element_set_state(held.get(), GST_STATE_NULL);
            held.reset();
        },
        key, patience);
}

void retire_device(std::function<void()> stop, const std::string& key, std::chrono::milliseconds patience) {
    closer().retire(std::move(stop), key, patience);
}

bool pipeline_closing(const std::string& key) {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (closer().busy(key)) {
        if (std::chrono::steady_clock::now() > latest)
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
}

int pipelines_closing() { return closer().count(); }

} // namespace specklescope
