// The pipeline: order is kept, every loss is counted, live sources drop, files wait.
#include "tests/support/contrast_reference.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope::pipeline_test {

using test::chain_of;
using test::eventually;
using test::options;
using test::Seen;
using test::WatchingSink;
using Status = Source::Status;

/// Sequence numbers increase and identify their frames, and every raw image is complete. Returns the number
/// missing before `total`.
std::uint64_t check_order(const std::vector<Seen>& seen, std::uint64_t total) {
    std::uint64_t next = 0;
    std::uint64_t missing = 0;
    for (const Seen& one : seen) {
        EXPECT_GE(one.sequence, next) << "out of order or twice";
        EXPECT_TRUE(one.raw_intact) << "frame " << one.sequence;
        missing += one.sequence - next;
        next = one.sequence + 1;
    }
    return missing + total - next;
}

TEST(Pipeline, AThousandFramesOfAFileArriveInOrder) {
    Pipeline pipeline(test::file_of(1000), chain_of("speckle:radius=1"), options());
    const auto sink = std::make_shared<WatchingSink>();
    std::atomic<int> wrong{0};
    sink->on_push = [&](const Result& result) { wrong += !test::agrees(result); };
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(sink->stream.source.name, "scripted file") << "a sink is told the stream it gets";
    EXPECT_EQ(sink->count(), 1000U);
    EXPECT_EQ(check_order(sink->seen(), 1000), 0U);
    for (const Seen& one : sink->seen())
        EXPECT_EQ(one.sequence, one.index);
    EXPECT_EQ(wrong, 0);
    const StatsSnapshot s = pipeline.stats();
    EXPECT_EQ(s.frames.acquired, 1000U);
    EXPECT_EQ(s.frames.processed, 1000U);
    EXPECT_EQ(s.drops.total(), 0U);
    EXPECT_EQ(s.queue.grown, 0U);
    EXPECT_EQ(s.latency.count, 1000U);
    EXPECT_LE(s.queue.peak, s.queue.slots);
    EXPECT_EQ(pipeline.status().state, RunState::ended);
    EXPECT_EQ(pipeline.status().message, "");
    pipeline.stop();
    EXPECT_TRUE(sink->closed());
    EXPECT_EQ(sink->after_close, 0);
}

TEST(Pipeline, SlotsAreAllocatedBeforeTheFirstFrame) {
    Pipeline* running = nullptr;
    std::atomic<int> free{-1};
    Pipeline pipeline(std::make_unique<test::ScriptedSource>(test::camera_info(),
                                                             [&](test::ScriptedSource&, FramePort&) {
                                                                 if (free < 0)
                                                                     free = running->stats().queue.slots_free;
                                                                 return test::nothing();
                                                             }),
                      chain_of("speckle:radius=1"), options(9));
    running = &pipeline;
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return free >= 0; }));
    EXPECT_EQ(free, 9);
}

TEST(Pipeline, AFileWaitsForASlowSink) {
    auto source = test::file_of(300);
    test::ScriptedSource& file = *source;
    Pipeline pipeline(std::move(source), Chain(), options());
    const auto sink = std::make_shared<WatchingSink>();
    sink->shut(true);
    pipeline.add_sink(sink);
    pipeline.start();
    const int slots = 6;
    ASSERT_TRUE(eventually([&] { return sink->pushing == 1 && file.offered >= slots; }));
    EXPECT_LE(file.offered, static_cast<std::uint64_t>(slots) + 1) << "one more may wait for its slot";
    EXPECT_EQ(pipeline.stats().drops.total(), 0U);
    sink->shut(false);
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_TRUE(sink->may_wait());
    EXPECT_EQ(sink->count(), 300U);
    EXPECT_EQ(check_order(sink->seen(), 300), 0U);
    EXPECT_EQ(pipeline.stats().drops.total(), 0U);
}

TEST(Pipeline, TheNumberOfSlotsHasAMinimum) {
    Pipeline pipeline(test::file_of(50), Chain(), options(1));
    pipeline.start();
    EXPECT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(pipeline.stats().frames.processed, 50U);
    EXPECT_EQ(pipeline.stats().queue.slots, kMinSlots);
}

TEST(Pipeline, ALiveSourceDropsAndEveryDropIsCounted) {
    constexpr std::uint64_t kFrames = 3000;
    auto source = test::camera_of(kFrames);
    test::ScriptedSource& camera = *source;
    Pipeline pipeline(std::move(source), Chain(), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    for (std::uint64_t offered = 300; offered < kFrames; offered += 300) { // stalls and recovers
        sink->shut(offered % 600 == 0);
        ASSERT_TRUE(eventually([&] { return camera.offered >= offered; }));
    }
    sink->shut(true);
    ASSERT_TRUE(eventually([&] { return camera.offered >= kFrames; })) << "a camera is never held up";
    sink->shut(false);
    ASSERT_TRUE(eventually([&] {
        const StatsSnapshot s = pipeline.stats();
        return s.frames.processed + s.drops.total() == kFrames;
    }));
    pipeline.stop();
    const StatsSnapshot s = pipeline.stats();
    EXPECT_FALSE(sink->may_wait());
    EXPECT_EQ(s.frames.acquired, kFrames);
    EXPECT_GT(s.drops.ring, 0U);
    EXPECT_EQ(s.drops.ring, s.drops.total());
    EXPECT_EQ(s.frames.processed, sink->count());
    EXPECT_EQ(check_order(sink->seen(), kFrames), s.drops.ring) << "gaps in the sequence are the drops";
    for (const Seen& one : sink->seen())
        EXPECT_EQ(one.sequence, one.index);
}

TEST(Pipeline, FramesLostAtTheSourceLeaveAGapAndAreCounted) {
    auto source = std::make_unique<test::ScriptedSource>(test::camera_info(),
                                                         [](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.offered == 10)
                                                                 return test::nothing();
                                                             if (self.offered == 5)
                                                                 port.lost(7, "it fell");
                                                             self.offer(port, test::kSmall);
                                                             return Status::frame;
                                                         });
    Pipeline pipeline(std::move(source), Chain(), options(16));
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return sink->count() == 10; }));
    EXPECT_EQ(sink->seen()[4].sequence, 4U);
    EXPECT_EQ(sink->seen()[5].sequence, 12U);
    EXPECT_EQ(pipeline.stats().drops.source, 7U);
    EXPECT_EQ(pipeline.stats().drops.total(), 7U);
    ASSERT_EQ(pipeline.stats().lost_reasons.size(), 1U);
    EXPECT_EQ(pipeline.stats().lost_reasons[0].why, "it fell");
    EXPECT_EQ(pipeline.stats().lost_reasons[0].frames, 7U);
}

TEST(Pipeline, TheMailboxHoldsTheNewestAndCountsTheRest) {
    Pipeline pipeline(test::file_of(500), Chain(), options());
    pipeline.start();
    std::uint64_t taken = 0;
    std::uint64_t last = 0;
    Result result;
    ASSERT_TRUE(eventually([&] {
        const bool over = pipeline.finished();
        if (pipeline.mailbox().take(result)) {
            EXPECT_TRUE(taken == 0 || result.info.sequence > last);
            EXPECT_TRUE(test::shows(result.raw.host(), result.info.sequence));
            last = result.info.sequence;
            ++taken;
        }
        return over && last == 499;
    }));
    EXPECT_FALSE(pipeline.mailbox().take(result));
    EXPECT_EQ(taken + pipeline.stats().frames.not_shown, 500U);
    pipeline.displayed(result, "upload", false);
    EXPECT_EQ(pipeline.stats().frames.displayed, 1U);
    EXPECT_EQ(pipeline.stats().to_screen.count, 0U);
    EXPECT_EQ(pipeline.stats().display_path, "upload");
}

TEST(Pipeline, ResultsOutliveThePipeline) {
    Result result;
    {
        Pipeline pipeline(test::file_of(20), chain_of("speckle:radius=2"), options());
        pipeline.start();
        ASSERT_TRUE(
            test::wait_result(pipeline, result, [](const Result& r) { return r.info.sequence == 19; }));
    }
    EXPECT_TRUE(test::shows(result.raw.host(), 19));
    EXPECT_TRUE(test::agrees(result));
}

TEST(Pipeline, StopsAfterTheGivenNumberOfFrames) {
    for (const bool live : {false, true}) {
        PipelineOptions limited = options();
        limited.frames = 10;
        Pipeline pipeline(live ? test::camera_of(std::numeric_limits<std::uint64_t>::max())
                               : test::file_of(100),
                          Chain(), limited);
        const auto sink = std::make_shared<WatchingSink>();
        pipeline.add_sink(sink);
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
        EXPECT_EQ(sink->count(), 10U);
        EXPECT_EQ(pipeline.stats().frames.processed, 10U);
        EXPECT_EQ(pipeline.status().state, RunState::ended);
    }
}

TEST(Pipeline, TheSizeMayChangeMidStream) {
    for (const bool live : {false, true}) {
        const std::vector<Shape> shapes = {
            test::kSmall, {631, 13, 1, PixelType::u8}, {17, 13, 1, PixelType::f32}};
        const auto shape_of = [shapes](std::uint64_t index) { return shapes[index / 20 % shapes.size()]; };
        auto source = std::make_unique<test::ScriptedSource>(
            live ? test::camera_info() : test::file_info(), [=](test::ScriptedSource& self, FramePort& port) {
                if (self.offered == 200)
                    return live ? test::nothing() : Status::end;
                self.offer(port, shape_of(self.offered));
                return Status::frame;
            });
        Pipeline pipeline(std::move(source), chain_of("speckle:radius=2"), options());
        const auto sink = std::make_shared<WatchingSink>();
        std::atomic<int> wrong{0};
        sink->on_push = [&](const Result& result) { wrong += !test::agrees(result); };
        pipeline.add_sink(sink);
        pipeline.start();
        ASSERT_TRUE(eventually([&] {
            const StatsSnapshot s = pipeline.stats();
            return s.frames.processed + s.drops.total() == 200;
        }));
        ASSERT_TRUE(eventually([&] { return sink->count() == pipeline.stats().frames.processed; }));
        EXPECT_EQ(check_order(sink->seen(), 200), pipeline.stats().drops.ring);
        EXPECT_EQ(pipeline.stats().drops.failed, 0U);
        if (!live) {
            EXPECT_EQ(sink->count(), 200U);
        }
        for (const Seen& one : sink->seen())
            EXPECT_EQ(one.shape.width, shape_of(one.index).width);
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(pipeline.status().source.shape.height, sink->seen().back().shape.height);
    }
}

TEST(Pipeline, ASizeThatChangesWithEveryFrameDoesNotFillTheMemory) {
    for (const bool live : {false, true}) {
        auto source = std::make_unique<test::ScriptedSource>(
            live ? test::camera_info() : test::file_info(), [](test::ScriptedSource& self, FramePort& port) {
                if (self.offered == 500)
                    return test::nothing();
                self.offer(port, {16 + static_cast<int>(self.offered % 2), 8, 1, PixelType::u8});
                return Status::frame;
            });
        test::ScriptedSource& changing = *source;
        Pipeline pipeline(std::move(source), Chain(), options());
        const auto sink = std::make_shared<WatchingSink>();
        sink->shut(true);
        pipeline.add_sink(sink);
        pipeline.start();
        if (live) {
            ASSERT_TRUE(eventually([&] { return changing.offered == 500; }));
            EXPECT_GT(pipeline.stats().drops.ring, 400U);
        } else {
            ASSERT_TRUE(eventually([&] { return sink->pushing == 1; }));
        }
        // Waits for a possible fault: unbounded, all 500 would be queued long before.
        EXPECT_FALSE(eventually([&] { return pipeline.stats().queue.depth > 16; }, std::chrono::seconds(1)));
        sink->shut(false);
        ASSERT_TRUE(eventually([&] {
            const StatsSnapshot s = pipeline.stats();
            return s.frames.processed + s.drops.total() == 500;
        }));
        pipeline.stop();
        EXPECT_EQ(check_order(sink->seen(), 500), pipeline.stats().drops.ring);
        if (!live) {
            EXPECT_EQ(pipeline.stats().drops.total(), 0U);
        }
    }
}

TEST(Pipeline, ColourBecomesGreyAndIsReportedOnce) {
    const Shape colour{24, 17, 3, PixelType::u8};
    auto source = std::make_unique<test::ScriptedSource>(
        test::file_info(colour), [colour](test::ScriptedSource& self, FramePort& port) {
            if (self.offered++ == 30)
                return Status::end;
            Frame frame = port.acquire(colour);
            for (int y = 0; y < colour.height; ++y)
                for (int x = 0; x < 3 * colour.width; ++x)
                    frame.host().row(y)[x] = static_cast<std::byte>(test::pixel(1, x / 3, y));
            port.submit(std::move(frame));
            return Status::frame;
        });
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=2,output=contrast2"), options());
    test::Listener listener(pipeline);
    pipeline.start();
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [](const Result& r) { return r.info.sequence == 29; }));
    EXPECT_EQ(listener.heard("gets of colour: luma"), 1);
    std::vector<std::byte> grey(24 * 17);
    const HostView view(grey.data(), {24, 17, 1, PixelType::u8});
    test::paint(view, 1);
    for (const auto& [x, y] : {std::pair{0, 0}, {7, 9}, {23, 16}})
        EXPECT_NEAR(result.image.host().as<float>().row(y)[x] / test::contrast2_at(view, 2, x, y), 1, 1e-5);
    EXPECT_EQ(result.raw.shape(), colour) << "the raw picture stays in colour";
}

TEST(PipelineSinks, ASinkThatCannotOpenIsNotAdded) {
    class Shut final : public WatchingSink {
        void open(const StreamInfo&) override { throw RunError("The folder /nowhere does not exist."); }
    };
    Pipeline pipeline(test::camera_of(100'000'000), Chain(), options());
    pipeline.start();
    EXPECT_THROW(pipeline.add_sink(std::make_shared<Shut>()), RunError);
    EXPECT_TRUE(pipeline.sinks().empty());
    EXPECT_EQ(pipeline.status().state, RunState::running);
}

TEST(PipelineSinks, IfOneCannotOpenAtStartTheOthersAreClosed) {
    class Shut final : public WatchingSink {
        void open(const StreamInfo&) override { throw RunError("The folder /nowhere does not exist."); }
    };
    const int threads = test::threads_now();
    Pipeline pipeline(test::file_of(100), Chain(), options());
    const auto first = std::make_shared<WatchingSink>();
    pipeline.add_sink(first);
    pipeline.add_sink(std::make_shared<Shut>());
    EXPECT_EQ(first->opened, 0) << "before start there is no stream to open for";
    EXPECT_THROW(pipeline.start(), RunError);
    EXPECT_EQ(first->opened, 1);
    EXPECT_TRUE(first->closed());
    EXPECT_EQ(first->count(), 0U);
    EXPECT_TRUE(test::threads_gone(threads));
    pipeline.start(); // without the sinks
    EXPECT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(pipeline.stats().frames.processed, 100U);
}

TEST(PipelineSinks, ASinkThatThrowsIsRemovedAndTheRunContinues) {
    Pipeline pipeline(test::file_of(100), Chain(), options());
    test::Listener listener(pipeline);
    const auto bad = std::make_shared<WatchingSink>();
    bad->on_push = [](const Result& result) {
        if (result.info.sequence == 10)
            throw RunError("The disk is full.");
    };
    const auto good = std::make_shared<WatchingSink>();
    pipeline.add_sink(bad);
    pipeline.add_sink(good);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(good->count(), 100U);
    EXPECT_EQ(bad->count(), 11U);
    EXPECT_TRUE(bad->closed());
    EXPECT_EQ(pipeline.sinks().size(), 1U);
    EXPECT_EQ(listener.heard("The disk is full."), 1) << listener.all();
    EXPECT_EQ(pipeline.stats().drops.failed, 0U);
    EXPECT_EQ(pipeline.status().state, RunState::ended);
}

TEST(PipelineSinks, NothingIsPushedIntoASinkOnceItIsBeingClosed) {
    Pipeline pipeline(test::camera_of(std::numeric_limits<std::uint64_t>::max()), Chain(), options());
    pipeline.start();
    for (int i = 0; i < 300; ++i) {
        const auto sink = std::make_shared<WatchingSink>();
        sink->on_push = [](const Result&) { std::this_thread::sleep_for(std::chrono::microseconds(100)); };
        pipeline.add_sink(sink);
        ASSERT_TRUE(eventually([&] { return sink->count() > 0; }));
        pipeline.remove_sink(sink);
        EXPECT_TRUE(sink->closed());
        const std::size_t count = sink->count();
        EXPECT_EQ(sink->closed_while_pushing, 0);
        ASSERT_EQ(sink->after_close, 0);
        EXPECT_EQ(sink->count(), count);
    }
    EXPECT_TRUE(pipeline.sinks().empty());
}

} // namespace specklescope::pipeline_test
