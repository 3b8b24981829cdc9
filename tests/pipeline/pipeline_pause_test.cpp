// Pause and step: what stops, what is recomputed, what continues.
#include "tests/support/contrast_reference.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope::pipeline_pause_test {

using test::chain_of;
using test::eventually;
using test::options;
using test::WatchingSink;
using Status = Source::Status;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// Pauses after some frames and drains the mailbox; the last image is in `shown`.
void pause_and_settle(Pipeline& pipeline, Result& shown) {
    ASSERT_TRUE(test::wait_result(pipeline, shown, [](const Result& r) { return r.info.sequence >= 5; }));
    pipeline.pause(true);
    // The first edit may be applied to the frame being processed, which is the last; the second recomputes
    // the image.
    for (const double exposure : {9.0, 10.0}) {
        const std::uint64_t version = pipeline.edit(0, "exposure", exposure);
        ASSERT_TRUE(
            test::wait_result(pipeline, shown, [&](const Result& r) { return r.info.version == version; }));
    }
    EXPECT_TRUE(shown.repeated);
    EXPECT_EQ(pipeline.status().state, RunState::paused);
}

TEST(PipelinePause, AnEditOfAPausedFileRecomputesTheLastImage) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=2,exposure=10"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    Result shown;
    pause_and_settle(pipeline, shown);
    const std::size_t recorded = sink->count();
    const StatsSnapshot before = pipeline.stats();
    Result again;
    for (const int radius : {3, 1, 4}) {
        const std::uint64_t version = pipeline.edit(0, "radius", std::int64_t{radius});
        ASSERT_TRUE(
            test::wait_result(pipeline, again, [&](const Result& r) { return r.info.version == version; }));
        EXPECT_TRUE(again.repeated);
        EXPECT_EQ(again.info.sequence, shown.info.sequence);
        EXPECT_EQ(again.chain->stages().at(0).params.as<SpeckleParams>().radius, radius);
        EXPECT_TRUE(test::agrees(again));
    }
    EXPECT_EQ(sink->count(), recorded) << "repeated pictures are not recorded";
    EXPECT_EQ(pipeline.stats().frames.processed, before.frames.processed);
    EXPECT_EQ(pipeline.stats().latency.count, before.latency.count);
    pipeline.pause(false);
    ASSERT_TRUE(test::wait_result(pipeline, again, [&](const Result& r) { return !r.repeated; }));
    EXPECT_EQ(sink->seen()[recorded].sequence, shown.info.sequence + 1) << "none skipped, none twice";
    EXPECT_FALSE(sink->seen()[recorded].repeated);
}

TEST(PipelinePause, EditsAfterTheEndRecomputeTheImage) {
    Pipeline pipeline(test::file_of(1), chain_of("speckle:radius=2"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    Result result;
    const std::uint64_t version = pipeline.edit(0, "exposure", 2.5);
    ASSERT_TRUE(
        test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
    EXPECT_TRUE(result.repeated);
    EXPECT_EQ(result.chain->stages().at(0).params.as<SpeckleParams>().exposure_ms, 2.5);
    EXPECT_TRUE(test::agrees(result));
    EXPECT_EQ(sink->count(), 1U);
    EXPECT_EQ(pipeline.stats().frames.processed, 1U);
    EXPECT_TRUE(pipeline.finished());
}

TEST(PipelinePause, AnEditBetweenTheLastFrameAndTheEndRecomputesTheImage) {
    std::atomic<bool> may_end{false};
    Pipeline pipeline(
        std::make_unique<test::ScriptedSource>(test::file_info(),
                                               [&](test::ScriptedSource& self, FramePort& port) {
                                                   if (self.offered == 0) {
                                                       self.offer(port, test::kSmall);
                                                       return Status::frame;
                                                   }
                                                   return may_end ? Status::end : Status::idle;
                                               }),
        chain_of("speckle:radius=2"), options());
    pipeline.start();
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [](const Result&) { return true; }));
    const std::uint64_t version = pipeline.edit(0, "exposure", 2.5);
    ASSERT_TRUE(eventually(
        [&] { return pipeline.chain()->stages().at(0).params.as<SpeckleParams>().exposure_ms == 2.5; }));
    // The edit has taken effect, and the thread has polled more than once: the source has not ended, so that
    // a frame might still arrive.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    may_end = true;
    ASSERT_TRUE(
        test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
    EXPECT_TRUE(result.repeated);
    EXPECT_TRUE(test::agrees(result));
}

TEST(PipelinePause, AStepIsExactlyOneFrame) {
    Pipeline pipeline(test::file_of(40), chain_of("speckle:radius=1"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.pause(true);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.stats().queue.depth > 3; }));
    EXPECT_EQ(sink->count(), 0U);
    for (std::size_t i = 1; i <= 20; ++i) {
        pipeline.step();
        ASSERT_TRUE(eventually([&] { return sink->count() >= i; }));
        ASSERT_EQ(sink->count(), i);
    }
    for (int i = 0; i < 5; ++i)
        pipeline.step(); // faster than frames are made
    ASSERT_TRUE(eventually([&] { return sink->count() >= 25; }));
    // Waits for a possible fault; the right behaviour needs no time.
    EXPECT_FALSE(eventually([&] { return sink->count() > 25; }, std::chrono::seconds(1)));
    EXPECT_FALSE(pipeline.finished());
    pipeline.pause(false);
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(sink->count(), 40U);
}

TEST(PipelinePause, AStepWithoutAFrameIsDroppedOnResume) {
    std::atomic<std::uint64_t> allowed{1};
    auto source = std::make_unique<test::ScriptedSource>(test::file_info(),
                                                         [&](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.offered >= allowed)
                                                                 return test::nothing();
                                                             self.offer(port, test::kSmall);
                                                             return Status::frame;
                                                         });
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=1"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return sink->count() == 1; }));
    pipeline.pause(true);
    pipeline.step(); // there is no frame for it
    pipeline.pause(false);
    pipeline.pause(true);
    allowed = 4;
    ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired == 4; }));
    // An edit recomputes the image before the queue is polled again: after the second, the thread has polled.
    Result again;
    for (const double exposure : {3.0, 4.0}) {
        const std::uint64_t version = pipeline.edit(0, "exposure", exposure);
        ASSERT_TRUE(
            test::wait_result(pipeline, again, [&](const Result& r) { return r.info.version == version; }));
        EXPECT_TRUE(again.repeated);
    }
    EXPECT_EQ(sink->count(), 1U) << "a step that was asked for before the run went on";
    pipeline.step();
    EXPECT_TRUE(eventually([&] { return sink->count() == 2; })) << "a step of this pause counts";
}

TEST(PipelinePause, LatencyExcludesPausedFrames) {
    Pipeline pipeline(test::camera_of(kEndless), chain_of("speckle:radius=1"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.pause(true);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return sink->count() > 50; }));
    EXPECT_EQ(pipeline.stats().latency.count, 0U) << "nobody waits for a picture that stands still";
    pipeline.pause(false);
    ASSERT_TRUE(eventually([&] { return pipeline.stats().latency.count > 10; }));
    EXPECT_LT(pipeline.stats().latency.count, pipeline.stats().frames.processed);
}

TEST(PipelinePause, DelayToTheScreenExcludesRepeatedAndPausedFrames) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=2,exposure=10"), options());
    pipeline.start();
    const auto delays_after = [&](const Result& result) {
        pipeline.displayed(result, "upload", true);
        return pipeline.stats().to_screen.count;
    };
    Result first, shown;
    ASSERT_TRUE(test::wait_result(pipeline, first, [](const Result&) { return true; }));
    EXPECT_EQ(delays_after(first), 1U);
    const std::chrono::duration<double, std::milli> to_result = first.ready - first.info.arrival;
    EXPECT_GE(pipeline.stats().to_screen.max_ms, to_result.count());
    pause_and_settle(pipeline, shown);
    EXPECT_EQ(delays_after(shown), 1U) << "repeated";
    pipeline.step();
    ASSERT_TRUE(test::wait_result(pipeline, shown, [](const Result& r) { return !r.repeated; }));
    EXPECT_EQ(delays_after(shown), 1U) << "a step of a paused file";
    const std::uint64_t before = pipeline.stats().latency.count;
    pipeline.pause(false);
    EXPECT_EQ(delays_after(shown), 1U) << "arrived before the end of the pause";
    ASSERT_TRUE(eventually([&] { return pipeline.stats().latency.count > before; }));
    const auto resumed = SteadyClock::now();
    ASSERT_TRUE(
        test::wait_result(pipeline, shown, [&](const Result& r) { return r.info.arrival >= resumed; }));
    EXPECT_EQ(delays_after(shown), 2U);
    EXPECT_EQ(pipeline.stats().frames.displayed, 5U);
}

TEST(PipelinePause, AFrameThatArrivesDuringThePauseIsKept) {
    std::atomic<std::uint64_t> allowed{1};
    auto source = std::make_unique<test::ScriptedSource>(test::file_info(),
                                                         [&](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.offered >= allowed)
                                                                 // polled again immediately, so that a frame
                                                                 // can follow the pause closely
                                                                 return Status::idle;
                                                             self.offer(port, test::kSmall);
                                                             return Status::frame;
                                                         });
    Pipeline pipeline(std::move(source), Chain(), options());
    pipeline.start();
    for (int round = 0; round < 40; ++round) {
        const std::uint64_t before = allowed;
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.processed == before; }));
        // during the wait for the next frame
        std::this_thread::sleep_for(std::chrono::milliseconds(round % 3));
        pipeline.pause(true);
        allowed = before + 4;
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired == before + 4; }));
        ASSERT_FALSE(
            eventually([&] { return pipeline.stats().frames.processed > before; }, std::chrono::seconds(0)));
        std::this_thread::sleep_for(std::chrono::milliseconds(30)); // time for a possible fault
        ASSERT_EQ(pipeline.stats().frames.processed, before) << "round " << round;
        pipeline.pause(false);
    }
}

TEST(PipelinePause, APausedCameraKeepsRecordingWithAFrozenImage) {
    Pipeline pipeline(test::camera_of(kEndless), chain_of("speckle:radius=1"), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    Result shown;
    ASSERT_TRUE(test::wait_result(pipeline, shown, [](const Result&) { return true; }));
    pipeline.pause(true);
    const std::size_t recorded = sink->count();
    ASSERT_TRUE(eventually([&] { return sink->count() > recorded + 50; }));
    while (pipeline.mailbox().take(shown))
        ;
    const std::size_t more = sink->count();
    ASSERT_TRUE(eventually([&] { return sink->count() > more + 50; }));
    Result again;
    EXPECT_FALSE(pipeline.mailbox().take(again)) << "the picture stands still";
    for (const double exposure : {3.0, 4.0, 5.0}) {
        const std::uint64_t version = pipeline.edit(0, "exposure", exposure);
        ASSERT_TRUE(
            test::wait_result(pipeline, again, [&](const Result& r) { return r.info.version == version; }));
        EXPECT_TRUE(again.repeated);
        EXPECT_EQ(again.info.sequence, shown.info.sequence) << "the same picture, not a newer one";
        EXPECT_TRUE(test::agrees(again));
    }
    for (const test::Seen& one : sink->seen())
        ASSERT_FALSE(one.repeated);
    pipeline.pause(false);
    EXPECT_TRUE(test::wait_result(pipeline, again, [&](const Result& r) {
        return !r.repeated && r.info.sequence > shown.info.sequence;
    }));
}

} // namespace specklescope::pipeline_pause_test
