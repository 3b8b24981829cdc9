// Start, stop, restart, failure and reconnection: nothing leaks, nothing hangs.
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope::pipeline_life_test {

using test::chain_of;
using test::eventually;
using test::options;
using test::WatchingSink;
using Status = Source::Status;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

TEST(PipelineLife, FiftyStartsAndStopsLeakNothing) {
    auto source = test::file_of(kEndless);
    test::ScriptedSource& file = *source;
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=1"), options());
    const int threads = test::threads_now(); // oneTBB keeps those of earlier tests
    int files = 0;
    for (int i = 0; i < 50; ++i) {
        const auto sink = std::make_shared<WatchingSink>();
        pipeline.add_sink(sink);
        pipeline.start();
        pipeline.start(); // a second time does nothing
        ASSERT_TRUE(eventually([&] { return sink->count() > 5; }));
        EXPECT_EQ(sink->seen().front().sequence, 0U);
        EXPECT_EQ(sink->seen().front().index, 0U);
        EXPECT_FALSE(pipeline.finished());
        pipeline.stop();
        pipeline.stop();
        EXPECT_TRUE(sink->closed());
        EXPECT_EQ(pipeline.status().state, RunState::idle);
        EXPECT_EQ(pipeline.stats().frames.processed, sink->count());
        EXPECT_EQ(pipeline.stats().frames.processed, pipeline.stats().frames.acquired)
            << "what was read is processed";
        EXPECT_EQ(pipeline.stats().queue.grown, 0U) << i;
        EXPECT_EQ(pipeline.stats().queue.depth, 0);
        EXPECT_TRUE(pipeline.sinks().empty());
        EXPECT_EQ(file.opened, i + 1);
        EXPECT_EQ(file.closed, i + 1);
        if (i == 0)
            files = test::files_now();
        ASSERT_TRUE(test::threads_gone(threads)) << test::threads_now() << " threads after " << i + 1;
        ASSERT_EQ(test::files_now(), files) << i;
    }
}

TEST(PipelineLife, ASinkAddedDuringAReconnectionIsFedOrRefused) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=1"), options());
    pipeline.start();
    std::atomic<bool> over{false};
    std::thread restarts([&] {
        for (int i = 0; i < 100; ++i) {
            pipeline.stop();
            pipeline.start();
        }
        over = true;
    });
    std::vector<std::shared_ptr<WatchingSink>> added;
    int refused = 0;
    while (!over) {
        const auto sink = std::make_shared<WatchingSink>();
        try {
            pipeline.add_sink(sink);
            added.push_back(sink);
            if (added.size() % 2 == 0)
                pipeline.remove_sink(sink);
        } catch (const RunError& error) {
            ++refused;
            EXPECT_NE(std::string(error.what()).find("opened or closed"), std::string::npos) << error.what();
            EXPECT_EQ(sink->opened, sink->closed() ? 1 : 0) << "left open";
        }
    }
    restarts.join();
    pipeline.stop();
    for (const auto& sink : added) {
        EXPECT_EQ(sink->after_close, 0);
        EXPECT_EQ(sink->closed_while_pushing, 0);
        EXPECT_TRUE(sink->closed() || sink->opened == 0) << "nobody would ever finish its file";
    }
    EXPECT_FALSE(pipeline.started());
    EXPECT_GT(added.size() + static_cast<std::size_t>(refused), 0U);
}

TEST(PipelineLife, FiftyPipelinesLeakNothing) {
    int threads = 0;
    int files = 0;
    for (int i = 0; i < 50; ++i) {
        {
            Pipeline pipeline(test::camera_of(kEndless), chain_of("speckle:radius=1"), options());
            if (i % 5 > 0) {
                pipeline.start();
                ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.processed > 5; }));
            }
            if (i % 5 == 1)
                pipeline.pause(true);
            if (i % 5 == 2)
                pipeline.stop();
        }
        if (i == 4) {
            threads = test::threads_now();
            files = test::files_now();
        }
        if (i >= 4) {
            ASSERT_TRUE(test::threads_gone(threads)) << i;
            ASSERT_EQ(test::files_now(), files) << i;
        }
    }
}

TEST(PipelineLife, ARadiusLargerThanTheImageIsRefusedAtStartAndNothingRuns) {
    auto source = test::file_of(10, {40, 9, 1, PixelType::u8});
    test::ScriptedSource& file = *source;
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=10"), options());
    const int threads = test::threads_now();
    try {
        pipeline.start();
        FAIL() << "started";
    } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "stage speckle: radius = 10 is too large for an image of 40×9 pixels; allowed: up to 9.");
    }
    EXPECT_TRUE(test::threads_gone(threads));
    EXPECT_EQ(file.closed, 1);
    EXPECT_EQ(pipeline.status().state, RunState::idle);
    pipeline.stop();
}

TEST(PipelineLife, ASourceThatCannotOpenIsRefusedAtStart) {
    auto source = test::file_of(10);
    source->on_open = [](test::ScriptedSource&) { throw RunError("There is no file 'x.avi'."); };
    Pipeline pipeline(std::move(source), Chain(), options());
    const int threads = test::threads_now();
    EXPECT_THROW(pipeline.start(), RunError);
    EXPECT_THROW(pipeline.start(), RunError);
    EXPECT_TRUE(test::threads_gone(threads));
}

TEST(PipelineLife, ABrokenFileFailsAfterItsGoodFrames) {
    for (const bool known : {true, false}) { // one of our errors, and one of a library
        auto source = std::make_unique<test::ScriptedSource>(
            test::file_info(), [known](test::ScriptedSource& self, FramePort& port) {
                if (self.offered == 57 && known)
                    throw RunError("x.avi: frame 57 cannot be decoded.");
                if (self.offered == 57)
                    throw std::runtime_error("x.avi: frame 57 cannot be decoded.");
                self.offer(port, test::kSmall);
                return Status::frame;
            });
        Pipeline pipeline(std::move(source), Chain(), options());
        test::Listener listener(pipeline);
        const auto sink = std::make_shared<WatchingSink>();
        pipeline.add_sink(sink);
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
        EXPECT_EQ(sink->count(), 57U);
        EXPECT_EQ(pipeline.status().state, RunState::failed);
        const std::string sentence = "x.avi: frame 57 cannot be decoded.";
        EXPECT_EQ(pipeline.status().message,
                  known ? sentence
                        : "Something failed that should not (" + sentence +
                              "); please report it with the command line and what was done.");
        EXPECT_EQ(listener.heard("frame 57 cannot be decoded"), 1);
        pipeline.stop();
        EXPECT_EQ(pipeline.status().state, RunState::failed) << "the reason is still to be read";
    }
}

TEST(PipelineLife, FramesQueuedBeforeAFailureAreCountedAsFailedAtTheStop) {
    auto source = std::make_unique<test::ScriptedSource>(
        test::file_info(), [](test::ScriptedSource& self, FramePort& port) {
            if (self.offered == 3)
                throw RunError("x.avi: frame 3 cannot be decoded.");
            self.offer(port, test::kSmall);
            return Status::frame;
        });
    Pipeline pipeline(std::move(source), Chain(), options());
    test::Listener listener(pipeline);
    pipeline.pause(true);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return listener.heard("frame 3 cannot be decoded") == 1; }));
    EXPECT_EQ(pipeline.stats().queue.depth, 3);
    pipeline.stop();
    const StatsSnapshot s = pipeline.stats();
    EXPECT_EQ(s.frames.acquired, 3U);
    EXPECT_EQ(s.frames.processed, 0U);
    EXPECT_EQ(s.drops.failed, 3U);
    EXPECT_EQ(s.drops.total(), 3U);
}

TEST(PipelineLife, ADeadCameraIsReopenedAtIncreasingIntervals) {
    auto source = std::make_unique<test::ScriptedSource>(test::camera_info(),
                                                         [](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.opened == 1 && self.offered == 3)
                                                                 throw RunError("The camera was unplugged.");
                                                             if (self.offered >= 6)
                                                                 return test::nothing();
                                                             self.offer(port, test::kSmall);
                                                             return Status::frame;
                                                         });
    source->on_open = [](test::ScriptedSource& self) {
        if (self.opened == 2 || self.opened == 3)
            throw RunError("There is no such camera.");
    };
    test::ScriptedSource& camera = *source;
    Pipeline pipeline(std::move(source), Chain(), options());
    test::Listener listener(pipeline);
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().state == RunState::reconnecting; }));
    EXPECT_NE(pipeline.status().message.find(" Next try in "), std::string::npos); // this one or a later
    ASSERT_TRUE(eventually([&] { return sink->count() == 6; }));
    EXPECT_EQ(pipeline.status().state, RunState::running);
    EXPECT_EQ(pipeline.status().message, "");
    EXPECT_EQ(listener.heard("The camera was unplugged. Next try in 0.5 s."), 1) << listener.all();
    EXPECT_EQ(listener.heard("There is no such camera. Next try in 1.0 s."), 1) << listener.all();
    EXPECT_EQ(listener.heard("There is no such camera. Next try in 2.0 s."), 1) << listener.all();
    EXPECT_EQ(listener.heard("is back"), 1);
    EXPECT_EQ(camera.opened, 4);
    EXPECT_EQ(camera.closed, 3) << "closed after each death and each failed try";
    EXPECT_EQ(pipeline.stats().away.reopened, 1U);
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_EQ(sink->seen()[i].sequence, i) << "the count goes on";
}

TEST(PipelineLife, IntervalsIncreaseWhileACameraOpensButNeverSends) {
    auto source = std::make_unique<test::ScriptedSource>(test::camera_info(),
                                                         [](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.opened < 4)
                                                                 throw RunError("No stream.");
                                                             if (self.offered < 5) {
                                                                 self.offer(port, test::kSmall);
                                                                 return Status::frame;
                                                             }
                                                             if (self.opened == 4)
                                                                 throw RunError("No stream.");
                                                             return test::nothing();
                                                         });
    test::ScriptedSource& camera = *source;
    Pipeline pipeline(std::move(source), Chain(), options());
    test::Listener listener(pipeline);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return camera.opened == 5; }));
    EXPECT_EQ(listener.heard("Next try in 0.5 s."), 2)
        << listener.all(); // at first, and after frames had arrived
    EXPECT_EQ(listener.heard("Next try in 1.0 s."), 1) << listener.all();
    EXPECT_EQ(listener.heard("Next try in 2.0 s."), 1) << listener.all();
}

TEST(PipelineLife, AFailedOrSilentCameraIsReopened) {
    for (const bool breaks : {true, false}) {
        auto source = std::make_unique<test::ScriptedSource>(
            test::camera_info(), [breaks](test::ScriptedSource& self, FramePort& port) {
                if (self.offered < 4U * static_cast<unsigned>(self.opened)) {
                    self.offer(port, test::kSmall);
                    return Status::frame;
                }
                if (breaks)
                    throw RunError("The camera has stopped.");
                return test::nothing();
            });
        PipelineOptions impatient = options();
        impatient.silence_s = 0.2;
        Pipeline pipeline(std::move(source), Chain(), impatient);
        test::Listener listener(pipeline);
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.processed >= 12; }));
        EXPECT_GE(pipeline.stats().away.reopened, 2U);
        EXPECT_GE(listener.heard(breaks ? "The camera has stopped." : "scripted camera is silent."), 2)
            << listener.all();
        EXPECT_FALSE(pipeline.finished());
    }
}

TEST(PipelineLife, ADeclaredEndEndsAnyKindOfSource) {
    for (const bool live : {true, false}) {
        auto source = std::make_unique<test::ScriptedSource>(live ? test::camera_info() : test::file_info(),
                                                             [](test::ScriptedSource& self, FramePort& port) {
                                                                 if (self.offered == 5)
                                                                     return Status::end;
                                                                 self.offer(port, test::kSmall);
                                                                 return Status::frame;
                                                             });
        Pipeline pipeline(std::move(source), Chain(), options());
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.finished(); })) << (live ? "live" : "file");
        EXPECT_EQ(pipeline.stats().source, live ? "scripted camera" : "scripted file");
        EXPECT_EQ(pipeline.stats().frames.processed, 5U);
        EXPECT_EQ(pipeline.stats().away.reopened, 0U);
        EXPECT_EQ(pipeline.status().state, RunState::ended);
    }
}

TEST(PipelineLife, StopsWhileReconnecting) {
    auto source = std::make_unique<test::ScriptedSource>(
        test::camera_info(), [](test::ScriptedSource&, FramePort&) -> Status { throw RunError("Gone."); });
    source->on_open = [](test::ScriptedSource& self) {
        if (self.opened > 1)
            throw RunError("Gone.");
    };
    Pipeline pipeline(std::move(source), Chain(), options());
    test::Listener listener(pipeline);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return listener.heard("Next try in 1.0 s.") == 1; }));
    pipeline.stop();
    EXPECT_EQ(pipeline.status().state, RunState::idle);
    EXPECT_EQ(pipeline.stats().away.reopened, 0U);
}

TEST(PipelineLife, StopsWhileTheSourceWaitsForASlotAndASinkBlocks) {
    for (const bool live : {false, true}) {
        auto source = live ? test::camera_of(kEndless) : test::file_of(kEndless);
        test::ScriptedSource& any = *source;
        Pipeline pipeline(std::move(source), chain_of("speckle:radius=1"), options());
        const auto sink = std::make_shared<WatchingSink>();
        sink->shut(true);
        pipeline.add_sink(sink);
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return sink->pushing == 1 && any.offered >= 6; }));
        std::atomic<bool> stopped{false};
        std::thread stopper([&] {
            pipeline.stop();
            stopped = true;
        });
        ASSERT_TRUE(eventually([&] { return any.closed == 1; })) << "the source is not held up by the sink";
        EXPECT_FALSE(stopped);
        EXPECT_FALSE(sink->closed()) << "what was accepted is still to be written";
        sink->shut(false);
        stopper.join();
        EXPECT_TRUE(sink->closed());
        EXPECT_EQ(sink->after_close, 0);
        const StatsSnapshot s = pipeline.stats();
        EXPECT_EQ(s.frames.acquired, s.frames.processed + s.drops.total());
        EXPECT_EQ(sink->count(), s.frames.processed);
    }
}

TEST(PipelineLife, StopsWhileEveryResultIsHeld) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=1"), options());
    test::Listener listener(pipeline);
    const auto hoard = std::make_shared<WatchingSink>();
    std::vector<Frame> kept;
    hoard->on_push = [&](const Result& result) { kept.push_back(result.image); };
    pipeline.add_sink(hoard);
    pipeline.start();
    const auto results = static_cast<std::uint64_t>(default_slots({24, 17, 1, PixelType::f32}));
    ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired >= results + 5; }));
    EXPECT_EQ(pipeline.stats().frames.processed, results);
    pipeline.stop();
    const StatsSnapshot s = pipeline.stats();
    EXPECT_EQ(s.frames.acquired, s.frames.processed + s.drops.total())
        << "frames given up at the stop are counted";
    EXPECT_GT(s.drops.failed, 0U);
    EXPECT_EQ(listener.heard("No result slot was released"), 1) << listener.all();
}

} // namespace specklescope::pipeline_life_test
