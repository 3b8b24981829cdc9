// A recording that starts while frames are in flight on a GPU: their pixels were not requested, and the
// recording is complete without them.
#include "pipeline/pipeline.hpp"
#include "recording/recorder.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/watching_sink.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace specklescope::begun_on_device_test {

constexpr std::uint64_t kFrames = 100;

/// Simulates a device: results have host pixels only if requested at submit. Up to the last frame, one is
/// always in flight when a result is returned.
class OneBehind final : public Executor {
public:
    std::string backend() const override { return "cuda"; }
    std::string device_name() const override { return "stand-in"; }
    std::shared_ptr<SlotMemory> slot_memory() const override { return host_->slot_memory(); }
    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        host_->set_chain(std::move(chain), version);
    }
    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        host_->set_regions(std::move(regions), version);
    }
    std::optional<Shape> output() const override { return host_->output(); }
    void prepare(const Shape& input, bool want_host) override { host_->prepare(input, want_host); }
    void submit(Frame frame, bool want_host, bool again) override {
        host_->submit(std::move(frame), want_host, again);
        done_.push_back(*host_->collect(true));
        if (!want_host)
            std::swap(done_.back().device_image, done_.back().image);
        ++submitted_;
    }
    std::optional<Result> collect(bool) override {
        if (done_.size() < (submitted_ < kFrames ? 2 : 1))
            return std::nullopt;
        Result result = std::move(done_.front());
        done_.pop_front();
        return result;
    }
    int in_flight() const override { return static_cast<int>(done_.size()); }
    int capacity() const override { return 3; }
    bool wait_slot(std::chrono::milliseconds timeout) override { return host_->wait_slot(timeout); }

private:
    std::unique_ptr<Executor> host_ = make_host_executor(1);
    std::deque<Result> done_;
    std::uint64_t submitted_ = 0;
};

/// Requests no pixels.
class RawWatcher final : public test::WatchingSink {
public:
    bool wants_host_image() const override { return false; }
};

TEST(BegunOnADevice, ARecordingHasItsFullLength) {
    const TemporaryFolder folder;
    PipelineOptions options;
    options.threads = 1;
    options.executor = [](std::string*) { return std::make_unique<OneBehind>(); };
    Chain chain;
    chain.add("speckle:radius=1");
    Pipeline pipeline(test::file_of(kFrames), chain, options);
    pipeline.viewer_wants_host(false);
    const auto recorder = make_recorder({.path = folder / "a.tiff", .limits = {.frames = 7}});
    const auto watcher = std::make_shared<RawWatcher>();
    watcher->on_push = [&](const Result& result) {
        EXPECT_EQ(static_cast<bool>(result.image), result.info.sequence > 20) << result.info.sequence;
        if (result.info.sequence == 19)
            pipeline.add_sink(recorder);
    };
    pipeline.add_sink(watcher);
    pipeline.start();
    ASSERT_TRUE(test::eventually([&] { return pipeline.finished(); }));
    pipeline.stop();
    const SinkStatus status = recorder->status();
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.complete, "7 frames");
    EXPECT_EQ(status.written, 7U);
    EXPECT_EQ(status.dropped, 0U);
    EXPECT_EQ(status.lost_before, 0U);
}

} // namespace specklescope::begun_on_device_test
