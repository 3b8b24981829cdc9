// A GPU that fails during a run, also one of several: every frame is still processed, in order, and the run
// reports it.
#include "analysis/region.hpp"
#include "base/error.hpp"
#include "pipeline/executor.hpp"
#include "pipeline/threads/flow.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/watching_sink.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace specklescope::device_failure_test {

enum class Where { submit, collect };

/// A device whose set_chain fails while frames are in flight; `on_submit` may make the edit.
class DyingAtAnEdit final : public test::StandIn {
public:
    explicit DyingAtAnEdit(std::function<void(int)> on_submit) : on_submit_(std::move(on_submit)) {}
    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        if (version > 0)
            throw DeviceError("It fell off the bus.");
        StandIn::set_chain(std::move(chain), version);
    }
    void submit(Frame frame, bool want_host, bool again) override {
        StandIn::submit(std::move(frame), want_host, again);
        on_submit_(submitted_++);
    }
    /// Always one frame behind: a frame is in flight at every edit.
    std::optional<Result> collect(bool wait) override {
        return done_.size() < 2 ? std::nullopt : StandIn::collect(wait);
    }

private:
    std::function<void(int)> on_submit_;
    int submitted_ = 0;
};

/// Has no slot for frame `starved`, at submit or, like an executor with own threads, at collect.
class StarvingExecutor final : public test::StandIn {
public:
    StarvingExecutor(int starved, Where where) : starved_(starved), where_(where) {}
    void submit(Frame frame, bool want_host, bool again) override {
        if (submitted_++ != starved_)
            return StandIn::submit(std::move(frame), want_host, again);
        if (where_ == Where::submit)
            throw NoSlot();
        done_.emplace_back(); // without a frame
    }
    std::optional<Result> collect(bool wait) override {
        std::optional<Result> result = StandIn::collect(wait);
        if (result && !result->raw)
            throw NoSlot();
        return result;
    }

private:
    int starved_, submitted_ = 0;
    Where where_;
};

/// Fails from its frame `failing` on.
class FailingExecutor : public test::StandIn {
public:
    FailingExecutor(int failing, Where where) : failing_(failing), where_(where) {}
    void submit(Frame frame, bool want_host, bool again) override {
        fail_if(Where::submit, submitted_++);
        StandIn::submit(std::move(frame), want_host, again);
    }
    std::optional<Result> collect(bool wait) override {
        fail_if(Where::collect, collected_);
        std::optional<Result> result = StandIn::collect(wait);
        collected_ += result ? 1 : 0;
        return result;
    }

private:
    void fail_if(Where here, int frame) const {
        if (failing_ >= 0 && where_ == here && frame >= failing_)
            throw DeviceError("It fell off the bus.");
    }

    int failing_;
    Where where_;
    int submitted_ = 0, collected_ = 0;
};

std::unique_ptr<Executor> three_of_which_one_fails(Where where, std::vector<int> from = {-1, 7, -1}) {
    std::vector<std::unique_ptr<Executor>> members;
    for (const int failing : from)
        members.push_back(std::make_unique<FailingExecutor>(failing, where));
    return make_round_robin_executor(std::move(members));
}

constexpr std::uint64_t kFrames = 100;

/// A file of 100 frames through speckle:radius=1.
std::unique_ptr<Flow> make_flow() {
    Chain chain;
    chain.add("speckle:radius=1");
    PipelineOptions options;
    options.threads = 1;
    options.slots = 12;
    return std::make_unique<Flow>(test::file_of(kFrames), chain, options);
}

/// Runs both threads to the end of the file; returns the sink, if there is one.
std::shared_ptr<test::WatchingSink> run_to_the_end(Flow& flow, std::unique_ptr<Executor> executor,
                                                   bool with_sink = true) {
    flow.status = {RunState::running, "", flow.source->open()};
    flow.backend.name = executor->backend();
    flow.slot_memory = executor->slot_memory();
    const auto sink = std::make_shared<test::WatchingSink>();
    if (with_sink)
        flow.sinks.add({sink});
    executor->set_chain(flow.edits.applied()->chain, 0);
    std::thread processing(
        [&flow, made = std::move(executor)]() mutable { process_frames(flow, std::move(made)); });
    std::thread acquisition([&flow] { acquire_frames(flow); });
    acquisition.join();
    EXPECT_TRUE(test::eventually([&] { return flow.finished.load(); }));
    flow.stop = true;
    processing.join();
    return sink;
}

/// Every frame must reach the sink once, intact and in order.
void run_and_expect_all(std::unique_ptr<Executor> executor, const std::string& told, bool regions = false) {
    const std::unique_ptr<Flow> made = make_flow();
    Flow& flow = *made;
    if (regions)
        flow.edits.publish([](EditState& next) {
            next.regions = make_outlines({{"box", RegionShape::rectangle, {{1, 1}, {5, 5}}, "", false}});
        });
    flow.edits.apply_all();
    const auto sink = run_to_the_end(flow, std::move(executor));
    ASSERT_EQ(sink->count(), kFrames);
    for (std::uint64_t i = 0; i < kFrames; ++i) {
        EXPECT_EQ(sink->seen()[i].sequence, i);
        EXPECT_TRUE(sink->seen()[i].raw_intact) << i;
    }
    EXPECT_EQ(flow.stats.failed, 0U);
    EXPECT_EQ(flow.backend.name, "cpu");
    ASSERT_EQ(flow.messages.size(), 1U);
    EXPECT_NE(flow.messages[0].text.find(told), std::string::npos) << flow.messages[0].text;
    EXPECT_NE(flow.messages[0].text.find("CPU"), std::string::npos);
}

TEST(DeviceFailure, TheHostContinuesWhereTheGpuStopped) {
    for (const Where where : {Where::submit, Where::collect})
        run_and_expect_all(std::make_unique<FailingExecutor>(20, where), "It fell off the bus.");
}

/// A recording uses it to start after an edit.
TEST(DeviceFailure, ResultsOfTheHostHaveTheVersionOfTheLastEdit) {
    for (const Where where : {Where::submit, Where::collect})
        for (const bool of_regions : {false, true}) {
            const std::unique_ptr<Flow> flow = make_flow();
            Chain chain = *flow->edits.newest()->chain;
            chain.stages()[0].params.set("radius", std::int64_t{2});
            flow->edits.publish([&](EditState& next) {
                next = {.chain = std::make_shared<const Chain>(std::move(chain)),
                        .regions =
                            make_outlines({{"box", RegionShape::rectangle, {{1, 1}, {5, 5}}, "", false}}),
                        .chain_version = of_regions ? 3U : 4U,
                        .regions_version = of_regions ? 4U : 3U};
            });
            const auto sink = run_to_the_end(*flow, std::make_unique<FailingExecutor>(20, where));
            ASSERT_EQ(sink->count(), kFrames);
            for (const test::Seen& seen : sink->seen())
                EXPECT_EQ(seen.version, 4U) << seen.sequence;
            EXPECT_EQ(flow->backend.name, "cpu");
        }
}

/// Counts the requests for host pixels.
class AskedExecutor final : public test::StandIn {
public:
    explicit AskedExecutor(std::atomic<int>& downloads) : downloads_(downloads) {}
    void submit(Frame frame, bool want_host, bool again) override {
        downloads_ += want_host ? 1 : 0;
        StandIn::submit(std::move(frame), true, again);
    }

private:
    std::atomic<int>& downloads_;
};

TEST(DeviceFailure, ResultsAreDownloadedOnlyIfTheyAreRead) {
    for (const bool viewer : {false, true})
        for (const bool reads : {false, true}) {
            class Sink final : public test::WatchingSink {
            public:
                explicit Sink(bool reads) : reads_(reads) {}
                bool wants_host_image() const override { return reads_; }

            private:
                bool reads_;
            };
            const std::unique_ptr<Flow> flow = make_flow();
            flow->viewer_wants_host = viewer;
            flow->sinks.add({std::make_shared<Sink>(reads)});
            std::atomic<int> downloads{0};
            run_to_the_end(*flow, std::make_unique<AskedExecutor>(downloads), false);
            EXPECT_EQ(downloads, viewer || reads ? static_cast<int>(kFrames) : 0) << viewer << reads;
        }
}

TEST(DeviceFailure, OneOfSeveralGpusEndsThemAllAndIsNamed) {
    for (const Where where : {Where::submit, Where::collect})
        run_and_expect_all(three_of_which_one_fails(where), "GPU 2 of 3: It fell off the bus.");
}

/// Also with the first frame, before any request; with regions the size is requested.
TEST(DeviceFailure, OneOfSeveralGpusMayFailAtTheFirstFrame) {
    for (const bool regions : {false, true}) {
        SCOPED_TRACE(regions);
        run_and_expect_all(three_of_which_one_fails(Where::submit, {0, -1, -1}),
                           "GPU 1 of 3: It fell off the bus.", regions);
    }
}

TEST(DeviceFailure, AtAnEditEveryResultCarriesTheVersionThatMadeIt) {
    const std::unique_ptr<Flow> flow = make_flow();
    constexpr int kAt = 20;
    auto executor = std::make_unique<DyingAtAnEdit>([&](int frame) {
        if (frame == kAt)
            flow->edits.edit([](Chain& chain) { chain.stages()[0].params.set("radius", std::int64_t{2}); });
    });
    const auto sink = run_to_the_end(*flow, std::move(executor));
    ASSERT_EQ(sink->count(), kFrames);
    std::uint64_t old = 0;
    for (const test::Seen& seen : sink->seen()) {
        EXPECT_EQ(seen.version, seen.radius - 1) << seen.sequence << ": radius " << seen.radius;
        old += seen.version == 0;
    }
    EXPECT_GE(old, kAt + 1U) << "what was in flight is of the old parameters";
    EXPECT_LT(old, kFrames) << "and the edit took effect on the host";
    EXPECT_EQ(flow->backend.name, "cpu");
}

/// An impossible chain is an error of the request, on a device as on the host.
TEST(DeviceFailure, AWrongNameInAnEditIsNoDeviceFailure) {
    for (const std::string& stage : {std::string("convolve:kernel=file,file=/etc/passwd"),
                                     std::string("convolve:kernel=file,file=/none.png"),
                                     std::string("background:dark=file,dark_file=/etc/passwd")}) {
        SCOPED_TRACE(stage);
        const std::unique_ptr<Flow> flow = make_flow();
        std::atomic<int> downloads{0};
        bool asked = false;
        const auto sink = std::make_shared<test::WatchingSink>();
        sink->on_push = [&](const Result&) {
            Chain chain;
            chain.add(stage);
            if (!std::exchange(asked, true))
                flow->edits.edit([&](Chain& next) { next = std::move(chain); });
        };
        flow->sinks.add({sink});
        run_to_the_end(*flow, std::make_unique<AskedExecutor>(downloads), false);
        EXPECT_EQ(sink->count(), kFrames);
        EXPECT_EQ(flow->stats.failed, 0U);
        EXPECT_EQ(flow->backend.name, "cuda");
        ASSERT_EQ(flow->messages.size(), 1U);
        EXPECT_EQ(flow->messages[0].text.find("stage "), 0U) << flow->messages[0].text;
        EXPECT_EQ(flow->edits.newest()->chain->stages().size(), 1U);
        EXPECT_EQ(flow->edits.newest()->chain->stages()[0].type->name, "speckle");
    }
}

/// An error of the host in one frame loses only that frame, which is counted; the device continues.
TEST(DeviceFailure, AnotherErrorLosesOnlyItsFrame) {
    class OneOfTheHost final : public FailingExecutor {
    public:
        OneOfTheHost() : FailingExecutor(-1, Where::submit) {}
        void submit(Frame frame, bool want_host, bool again) override {
            if (submitted_++ == 20)
                throw RunError("There is no room on this machine.");
            FailingExecutor::submit(std::move(frame), want_host, again);
        }

    private:
        int submitted_ = 0;
    };
    const std::unique_ptr<Flow> flow = make_flow();
    const auto sink = run_to_the_end(*flow, std::make_unique<OneOfTheHost>());
    EXPECT_EQ(sink->count(), kFrames - 1);
    EXPECT_EQ(flow->stats.failed, 1U);
    EXPECT_EQ(flow->backend.name, "cuda");
    ASSERT_EQ(flow->messages.size(), 1U);
    EXPECT_EQ(flow->messages[0].text, "There is no room on this machine.");
}

TEST(DeviceFailure, AFrameWithoutASlotIsLostAndTheDeviceContinues) {
    for (const Where where : {Where::submit, Where::collect})
        for (const int members : {1, 3}) {
            std::vector<std::unique_ptr<Executor>> several;
            for (int i = 0; i < members; ++i)
                several.push_back(std::make_unique<StarvingExecutor>(i == 0 ? 7 : -1, where));
            const std::unique_ptr<Flow> flow = make_flow();
            const auto sink = run_to_the_end(
                *flow, members == 1 ? std::move(several[0]) : make_round_robin_executor(std::move(several)));
            EXPECT_EQ(sink->count(), kFrames - 1);
            const std::uint64_t lost = 7U * static_cast<std::uint64_t>(members);
            for (std::uint64_t i = 0; i < sink->count(); ++i)
                EXPECT_EQ(sink->seen()[i].sequence, i + (i >= lost ? 1 : 0));
            EXPECT_EQ(flow->stats.failed, 1U);
            EXPECT_EQ(flow->backend.name, "cuda") << "the GPU is well";
            ASSERT_EQ(flow->messages.size(), 1U);
            EXPECT_NE(flow->messages[0].text.find("A recorder or the window uses"), std::string::npos)
                << flow->messages[0].text;
        }
}

TEST(DeviceFailure, RoundRobinThrowsTheErrorOfItsMember) {
    const auto executor = three_of_which_one_fails(Where::submit);
    auto chain = std::make_shared<Chain>();
    chain->add("speckle:radius=1");
    executor->set_chain(chain, 1);
    FrameRing ring({20, 10, 1, PixelType::u8}, 4, host_memory());
    const auto put = [&] {
        Frame frame = ring.acquire(std::chrono::seconds(1));
        test::paint(frame.host(), 0);
        ASSERT_TRUE(executor->wait_slot(std::chrono::seconds(1)));
        executor->submit(std::move(frame), true, false);
    };
    for (int i = 0; i < 3 * 7 + 1; ++i) {
        put();
        ASSERT_TRUE(executor->collect(true)) << i;
    }
    put(); // its thread detects it
    EXPECT_THROW(executor->collect(true), RunError);
    EXPECT_THROW(executor->collect(true), RunError) << "again";
    EXPECT_THROW(executor->set_chain(chain, 2), RunError);
}

TEST(DeviceFailure, AFrameThatDoesNotFitTheChainIsRefusedImmediately) {
    std::vector<std::unique_ptr<Executor>> members;
    for (int i = 0; i < 2; ++i)
        members.push_back(std::make_unique<FailingExecutor>(-1, Where::submit));
    const auto executor = make_round_robin_executor(std::move(members));
    auto chain = std::make_shared<Chain>();
    chain->add("speckle:radius=3,border=crop");
    executor->set_chain(chain, 1);
    FrameRing small({4, 4, 1, PixelType::u8}, 1, host_memory());
    FrameRing large({40, 40, 1, PixelType::u8}, 1, host_memory());
    EXPECT_THROW(executor->submit(small.try_acquire(), true, false), UsageError);
    EXPECT_EQ(executor->in_flight(), 0);
    Frame frame = large.try_acquire();
    test::paint(frame.host(), 0);
    executor->submit(std::move(frame), true, false);
    EXPECT_EQ(executor->collect(true)->shape().width, 34);
}

} // namespace specklescope::device_failure_test
