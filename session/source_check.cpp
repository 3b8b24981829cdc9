#include "session/source_check.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "config/look/check_source.hpp"
#include "config/start.hpp"

#include <condition_variable>
#include <mutex>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

/// Copies bursts of consecutive raw frames on request: a burst has more frames than the pipeline's ring.
class PassingFrames final : public Sink {
public:
    PassingFrames(const Shape& shape, std::size_t most)
        : ring_(shape, static_cast<int>(most), host_memory()), most_(most) {}

    void open(const StreamInfo&) override {}
    void push(const Result& result, bool) override {
        const std::scoped_lock lock(mutex_);
        if (!wanted_ || result.repeated || !result.raw || result.raw.shape() != ring_.shape())
            return;
        Frame frame = ring_.try_acquire();
        if (!frame)
            return;
        copy_pixels(result.raw.host(), frame.host());
        frame.info() = result.raw.info();
        frames_.push_back(std::move(frame));
        wanted_ = frames_.size() < most_;
        came_.notify_one();
    }
    void close() noexcept override {
        const std::scoped_lock lock(mutex_);
        closed_ = true;
        came_.notify_one();
    }
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override { return {}; }

    /// Waits for the next burst. A slow source gives fewer frames.
    std::vector<Frame> burst(const std::string& source) {
        std::unique_lock lock(mutex_);
        frames_.clear();
        wanted_ = true;
        const auto begin = std::chrono::steady_clock::now();
        while (frames_.size() < most_) {
            const auto waited = std::chrono::steady_clock::now() - begin;
            if (waited > kPatience || (waited > kEnough && frames_.size() >= kFew))
                break;
            if (closed_)
                throw RunError("'" + source + "' was closed during the check. Check it again.");
            came_.wait_for(lock, 50ms);
            lock.unlock();
            work_goes_on("the check");
            lock.lock();
        }
        wanted_ = false;
        if (frames_.empty())
            throw RunError("'" + source + "' delivered no frame within " + std::to_string(kPatience.count()) +
                           " s. Resume it, and check again.");
        return std::exchange(frames_, {});
    }

private:
    static constexpr std::chrono::seconds kPatience{10}, kEnough{2};
    static constexpr std::size_t kFew = 6;

    std::mutex mutex_;
    std::condition_variable came_;
    FrameRing ring_;
    std::size_t most_;
    std::vector<Frame> frames_;
    bool wanted_ = false, closed_ = false;
};

CheckReport check_passing(Pipeline& pipeline, const std::string& source) {
    const SourceInfo info = pipeline.status().source;
    const std::size_t length = check_length(info.shape);
    const auto passing = std::make_shared<PassingFrames>(info.shape, length);
    const struct Added {
        Added(Pipeline& to, std::shared_ptr<Sink> added) : pipeline(to), sink(std::move(added)) {
            pipeline.add_sink(sink);
        }
        Added(const Added&) = delete;
        Added& operator=(const Added&) = delete;
        ~Added() { pipeline.remove_sink(sink); }
        Pipeline& pipeline;
        const std::shared_ptr<Sink> sink;
    } added(pipeline, passing);
    std::vector<Frame> frames;
    return check_frames(info, source, kCheckBursts, [&](int, std::uint64_t i) -> std::optional<Frame> {
        if (i == 0) {
            frames.clear(); // returns their slots first
            frames = passing->burst(source);
        }
        return i < frames.size() ? std::optional(frames[i]) : std::nullopt;
    });
}

} // namespace

std::function<CheckReport()> source_check(const SessionState& state) {
    const SourceInfo info = state.pipeline->status().source;
    if (info.seekable && !info.live)
        return [source = state.settings.source, defaults = source_defaults(state.settings)] {
            return check_source(source, defaults);
        };
    return [pipeline = state.pipeline] { return check_passing(*pipeline, pipeline->stream().source_text); };
}

} // namespace specklescope
