// A recording that starts while frames are in flight on a GPU: their pixels were not requested, and the
// recording is complete without them.
#include "pipeline/pipeline.hpp"
#include "recording/recorder.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/watching_sink.hpp"

#include <gtest/gtest.h>

namespace specklescope::begun_on_device_test {

constexpr std::uint64_t kFrames = 100;

/// Results have host pixels only if requested at submit. Up to the last frame, one is always in flight when a
/// result is returned.
class OneBehind final : public test::StandIn {
public:
    void submit(Frame frame, bool want_host, bool again) override {
        StandIn::submit(std::move(frame), want_host, again);
        if (!want_host)
            std::swap(done_.back().device_image, done_.back().image);
        ++submitted_;
    }
    std::optional<Result> collect(bool wait) override {
        return done_.size() < (submitted_ < kFrames ? 2 : 1) ? std::nullopt : StandIn::collect(wait);
    }

private:
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
    pipeline.pause(true); // no frame before start() returns: it would refuse the recorder
    pipeline.start();
    pipeline.pause(false);
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
