// A sink that stores its results, and can be blocked like a slow disk.
#pragma once

#include "base/error.hpp"
#include "pipeline/sink.hpp"

#include "tests/support/scripted_source.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace specklescope::test {

struct Seen {
    std::uint64_t sequence = 0;
    std::uint64_t version = 0;
    std::uint64_t index = 0; ///< the frame's number in the source's own count, from capture_ns
    Shape shape;
    std::uint64_t radius = 0; ///< of the chain's first stage, if it has one
    bool raw_intact = false;  ///< the raw pixels are exactly those of that frame
    bool repeated = false;
};

class WatchingSink : public Sink {
public:
    void open(const StreamInfo& info) override {
        stream = info;
        ++opened;
    }
    void push(const Result& result, bool may_wait) override {
        ++pushing;
        std::unique_lock lock(mutex_);
        gate_.wait(lock, [&] { return open_gate_; });
        waits_ = may_wait;
        if (closed_)
            ++after_close;
        const auto index = static_cast<std::uint64_t>(result.info.capture_ns / 1'000'000);
        seen_.push_back({result.info.sequence, result.info.version, index, result.shape(), radius_of(result),
                         shows(result.raw.host(), index), result.repeated});
        if (on_push)
            on_push(result);
        --pushing;
    }
    void close() noexcept override {
        if (pushing > 0)
            ++closed_while_pushing;
        const std::scoped_lock lock(mutex_);
        closed_ = true;
    }
    bool wants_host_image() const override { return true; }
    SinkStatus status() const override {
        SinkStatus status;
        status.written = count_;
        return status;
    }

    /// While shut, push() blocks.
    void shut(bool on) {
        {
            const std::scoped_lock lock(mutex_);
            open_gate_ = !on;
        }
        gate_.notify_all();
    }
    std::vector<Seen> seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }
    std::size_t count() const {
        const std::scoped_lock lock(mutex_);
        return seen_.size();
    }
    bool may_wait() const {
        const std::scoped_lock lock(mutex_);
        return waits_;
    }
    bool closed() const {
        const std::scoped_lock lock(mutex_);
        return closed_;
    }

    StreamInfo stream;
    std::function<void(const Result&)> on_push; ///< set before the sink is added
    std::atomic<int> opened{0}, pushing{0}, after_close{0}, closed_while_pushing{0};

private:
    static std::uint64_t radius_of(const Result& result) {
        if (!result.chain || result.chain->stages().empty() ||
            !result.chain->stages()[0].params.table().find("radius"))
            return 0;
        return static_cast<std::uint64_t>(
            std::get<std::int64_t>(result.chain->stages()[0].params.get("radius")));
    }

    mutable std::mutex mutex_;
    std::condition_variable gate_;
    bool open_gate_ = true;
    bool waits_ = false;
    bool closed_ = false;
    std::uint64_t count_ = 0;
    std::vector<Seen> seen_;
};

} // namespace specklescope::test
