// State that a chain keeps or loses when edited: windows, warm-up, buttons, notes.
#include "base/error.hpp"
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/stats.hpp"
#include "tests/support/running.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

namespace specklescope::plan_test {

using test::eventually;

/// A stage that counts its frames: its result is that number in every pixel, plus its input, so that the
/// windows of a chain can be told apart.
struct CountParams {
    int wanted = 4;     ///< rebuild
    double weight = 1;  ///< free
    double gain = 1000; ///< free: factor of its input
    int clear = 0;      ///< button
    std::string label;  ///< rebuild
};
int made = 0; ///< stages made since the test began

class CountStage final : public HostStage {
public:
    explicit CountStage(const Params& params) : params_(params.as<CountParams>()), pressed_(params_.clear) {
        ++made;
    }
    Shape prepare(const Shape& input) override {
        if (params_.wanted > input.width)
            throw UsageError("stage count: wanted = " + std::to_string(params_.wanted) + " is too large.");
        return input;
    }
    void set_params(const Params& params) override {
        params_ = params.as<CountParams>();
        if (params_.clear > pressed_)
            held_ = 0;
        pressed_ = params_.clear;
    }
    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        if (!context.again || held_ == 0)
            ++held_;
        for (int y = 0; y < output.shape.height; ++y)
            for (int x = 0; x < output.shape.width; ++x)
                output.as<float>().row(y)[x] =
                    input.as<float>().row(y)[x] * static_cast<float>(params_.gain) +
                    static_cast<float>(held_ * params_.weight);
    }
    void reset() override { held_ = 0; }
    Warmup warmup() const override {
        return {.stage = {}, .frames = std::min(held_, params_.wanted), .wanted = params_.wanted};
    }
    std::string note() const override { return params_.label; }

private:
    CountParams params_;
    int held_ = 0, pressed_ = 0;
};

const StageType& count_type() {
    static const ParamTable table =
        Declare<CountParams>("stage count")
            .integer("wanted", &CountParams::wanted, {.min = 1, .max = 100, .cost = Cost::rebuild})
            .real("weight", &CountParams::weight, {.min = 0, .max = 10})
            .real("gain", &CountParams::gain, {.min = 0, .max = 1000})
            .action("clear", &CountParams::clear, {})
            .text("label", &CountParams::label, {.cost = Cost::rebuild})
            .table();
    static const StageType type = {.name = "count",
                                   .doc = "counts",
                                   .table = &table,
                                   .types = {PixelType::f32},
                                   .channels = {1},
                                   .tolerance = 0,
                                   .quantity = same_quantity,
                                   .make_host = [](const Params& params) -> std::unique_ptr<HostStage> {
                                       return std::make_unique<CountStage>(params);
                                   },
                                   .make_device = nullptr,
                                   .stateful = true};
    return type;
}

ChainStage count(const std::string& label = "", int wanted = 8) {
    ChainStage stage{&count_type(), Params(*count_type().table)};
    stage.params.set("label", label);
    stage.params.set("wanted", std::int64_t{wanted});
    return stage;
}

Chain chain_of(const std::vector<ChainStage>& stages) {
    Chain chain;
    for (const ChainStage& stage : stages)
        chain.add(stage);
    return chain;
}

class PlanTest : public testing::Test {
protected:
    void use(const Chain& chain) { executor_->set_chain(std::make_shared<Chain>(chain), ++version_); }
    Result submit(bool again = false, bool discontinuity = false) {
        if (!ring_ || ring_->shape() != shape_)
            ring_ = std::make_unique<FrameRing>(shape_, 4, host_memory());
        Frame frame = ring_->try_acquire();
        for (int y = 0; y < shape_.height; ++y)
            std::fill_n(frame.host().as<float>().row(y), shape_.width, 0.0F);
        frame.info() = FrameInfo();
        frame.info().discontinuity = discontinuity;
        executor_->submit(std::move(frame), true, again);
        return *executor_->collect(true);
    }
    /// Content of the windows: 3002 is 3 in the first stage, 2 in the second.
    static int held(const Result& result) {
        return static_cast<int>(result.image.host().as<float>().row(1)[2]);
    }
    int next(bool again = false, bool discontinuity = false) { return held(submit(again, discontinuity)); }

    Shape shape_{8, 4, 1, PixelType::f32};
    std::unique_ptr<Executor> executor_ = make_host_executor(1);
    std::unique_ptr<FrameRing> ring_;
    std::uint64_t version_ = 0;
};

TEST_F(PlanTest, AnEditOfALaterStageKeepsEarlierWindowsAndRestartsTheRest) {
    use(chain_of({count("a"), count("b"), count("c")}));
    for (int i = 1; i <= 3; ++i)
        EXPECT_EQ(next(), i * 1001001);
    use(chain_of({count("a"), count("B"), count("c")}));
    EXPECT_EQ(next(), 4001001);
    EXPECT_EQ(next(), 5002002);
    use(chain_of({count("A"), count("B"), count("c")}));
    EXPECT_EQ(next(), 1001001);
}

TEST_F(PlanTest, EveryStageBeforeTheEditKeepsItsWindow) {
    use(chain_of({count("a"), count("b"), count("c")}));
    next();
    EXPECT_EQ(next(), 2002002);
    use(chain_of({count("a"), count("b"), count("C")}));
    EXPECT_EQ(next(), 3003001);
    EXPECT_EQ(next(), 4004002);
}

TEST_F(PlanTest, AddingRemovingAndMovingStagesKeepsEarlierStages) {
    use(chain_of({count("a")}));
    next();
    EXPECT_EQ(next(), 2);
    use(chain_of({count("a"), count("b")}));
    EXPECT_EQ(next(), 3001);
    EXPECT_EQ(next(), 4002);
    use(chain_of({count("a"), count("c"), count("b")}));
    EXPECT_EQ(next(), 5001001);
    use(chain_of({count("a"), count("b")})); // not the earlier "b", which came after "c"
    EXPECT_EQ(next(), 6001);
    use(chain_of({count("b"), count("a")}));
    EXPECT_EQ(next(), 1001);
    use(chain_of({}));
    EXPECT_EQ(next(), 0);
    use(chain_of({count("b")}));
    EXPECT_EQ(next(), 1) << "a stage that was taken out does not come back with its past";
}

TEST_F(PlanTest, ARefusedEditChangesNoWindow) {
    use(chain_of({count("a"), count("b")}));
    next();
    EXPECT_EQ(next(), 2002);
    EXPECT_THROW(use(chain_of({count("a"), count("b"), count("c", 99)})), UsageError);
    EXPECT_EQ(next(), 3003);
    EXPECT_THROW(use(chain_of({count("a"), count("b", 99)})), UsageError);
    EXPECT_EQ(next(), 4004);
}

TEST_F(PlanTest, AFreeEditRebuildsNothing) {
    Chain chain = chain_of({count("a"), count("b")});
    use(chain);
    next();
    made = 0;
    chain.stages()[1].params.set("weight", 5.0);
    use(chain);
    EXPECT_EQ(next(), 2000 + 2 * 5);
    EXPECT_EQ(made, 0);
    chain.stages()[0].params.set("wanted", std::int64_t{5});
    use(chain);
    EXPECT_EQ(next(), 1000 + 5) << "the weight of the stage behind holds for the new one too";
}

TEST_F(PlanTest, AFreeEditWithARebuildReachesKeptStages) {
    Chain chain = chain_of({count("a"), count("b")});
    use(chain);
    next();
    chain.stages()[0].params.set("weight", 3.0);
    chain.stages()[1].params.set("label", std::string("B"));
    use(chain);
    EXPECT_EQ(next(), 2 * 3 * 1000 + 1);
}

TEST_F(PlanTest, AButtonActsOnceAndOnItsOwnStage) {
    Chain chain = chain_of({count("a"), count("b")});
    use(chain);
    next();
    EXPECT_EQ(next(), 2002);
    chain.stages()[1].params.set("clear", std::int64_t{1});
    use(chain);
    EXPECT_EQ(next(), 3001);
    EXPECT_EQ(next(), 4002) << "once";
    chain.stages()[0].params.set("weight", 2.0);
    use(chain);
    EXPECT_EQ(next(), 10001) << "the input of the second stage is another one now";
    EXPECT_EQ(next(), 12002) << "another edit does not press it again";
}

TEST_F(PlanTest, ADiscontinuityResetsEveryStage) {
    use(chain_of({count("a"), count("b")}));
    next();
    next();
    EXPECT_EQ(next(false, true), 1001);
    EXPECT_EQ(next(), 2002);
    shape_ = {9, 4, 1, PixelType::f32};
    EXPECT_EQ(next(), 1001) << "another size";
    shape_ = {8, 4, 1, PixelType::f32};
    EXPECT_EQ(next(), 1001) << "and back";
}

TEST_F(PlanTest, AFrameThatFailsIsAGap) {
    use(chain_of({count("a", 8)}));
    next();
    EXPECT_EQ(next(), 2);
    shape_ = {4, 4, 1, PixelType::f32}; // too narrow for the stage
    EXPECT_THROW(submit(), UsageError);
    shape_ = {8, 4, 1, PixelType::f32};
    EXPECT_EQ(next(), 1) << "the plan is the old one, its history is not";
    EXPECT_EQ(next(), 2);
}

TEST_F(PlanTest, ARepeatedFrameIsNotAddedTwice) {
    use(chain_of({count("a"), count("b")}));
    EXPECT_EQ(next(false, true), 1001);
    EXPECT_EQ(next(true, true), 1001) << "the mark of the first frame does not restart it";
    EXPECT_EQ(next(), 2002);
    EXPECT_EQ(next(true), 2002);
    use(chain_of(
        // an edit while paused: the new stage adds the frame, the old one does not
        {count("a"), count("B")}));
    EXPECT_EQ(next(true), 2001);
    EXPECT_EQ(next(true), 2001);
    EXPECT_EQ(next(), 3002);
}

TEST_F(PlanTest, WarmupIsOfTheFirstStageThatStillFills) {
    use(chain_of({count("a", 2), count("b", 4)}));
    EXPECT_EQ(to_string(submit().warmup), "count 1/2");
    EXPECT_EQ(to_string(submit().warmup), "count 1/4") << "begins again with its first complete input";
    EXPECT_EQ(to_string(submit().warmup), "count 2/4");
    EXPECT_EQ(to_string(submit(true).warmup), "count 2/4");
    EXPECT_EQ(to_string(submit().warmup), "count 3/4");
    EXPECT_TRUE(submit().warmup.done());
    EXPECT_EQ(to_string(submit().warmup), "");
    EXPECT_EQ(to_string(submit(false, true).warmup), "count 1/2");
}

TEST_F(PlanTest, NotesArePerStageAndFollowEdits) {
    use(chain_of({count("a"), count(""), count("c")}));
    EXPECT_EQ(*submit().notes, (StageNotes{"a", "", "c"}));
    use(chain_of({count("a"), count("b")}));
    const Result result = submit();
    EXPECT_EQ(*result.notes, (StageNotes{"a", "b"}));
    use(chain_of({count("x")}));
    EXPECT_EQ(*result.notes, (StageNotes{"a", "b"})) << "a result keeps its own";
}

TEST(PlanText, ButtonsAreNotWritten) {
    ChainStage stage = count("a, \"b\"");
    stage.params.set("clear", std::int64_t{3});
    EXPECT_EQ(to_string(stage), "count:wanted=8,weight=1,gain=1000,label=\"a, \\\"b\\\"\"");
    Settings settings;
    settings.chain.add(stage);
    const std::string toml = to_toml(settings);
    EXPECT_EQ(toml.find("clear"), std::string::npos) << toml;
    EXPECT_NE(toml.find("label"), std::string::npos) << toml;
}

TEST(PlanText, ButtonsMakeNoDifferenceThatNeedsARebuild) {
    const ChainStage before = count("a");
    ChainStage after = before;
    after.params.set("clear", std::int64_t{1});
    EXPECT_TRUE(differs_in_free_only(before, after));
}

// --- through the pipeline ---

TEST(PlanPipeline, StatisticsContainWarmupAndTimesOfEqualStages) {
    Pipeline pipeline(test::file_of(3, {16, 8, 1, PixelType::u16}), chain_of({count("a", 2), count("b", 9)}),
                      test::options());
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    const StatsSnapshot stats = pipeline.stats();
    EXPECT_EQ(to_string(stats.newest.warmup), "count 2/9");
    ASSERT_EQ(*stats.newest.notes, (StageNotes{"a", "b"}));
    std::string rows;
    for (const StageStat& stage : stats.stages)
        rows += stage.name + "(" + stage.note + ") ";
    EXPECT_EQ(rows, "saturation() convert() count(a) count(b) undefined() ");
    const std::string json = to_json(stats);
    EXPECT_NE(json.find("\"wanted\": 9"), std::string::npos) << json;
}

TEST(PlanPipeline, TimesOfEqualStagesAreSeparate) {
    Stats stats;
    for (int i = 0; i < 3; ++i) {
        Result result;
        result.timings.push_back({"average", 1});
        result.timings.push_back({"convert", 5});
        result.timings.push_back({"average", 3});
        stats.record(result, false);
    }
    const StatsSnapshot s = stats.snapshot();
    ASSERT_EQ(s.stages.size(), 3U);
    EXPECT_EQ(s.stages[0].name, "average");
    EXPECT_DOUBLE_EQ(s.stages[0].mean_ms, 1);
    EXPECT_EQ(s.stages[2].name, "average");
    EXPECT_DOUBLE_EQ(s.stages[2].mean_ms, 3);
    EXPECT_DOUBLE_EQ(s.stages[1].last_ms, 5);
}

/// The first stage's window as seen by the sink, frame by frame.
std::vector<int> histories(std::unique_ptr<Source> source, std::size_t frames) {
    Pipeline pipeline(std::move(source), chain_of({count("a")}), test::options());
    const auto sink = std::make_shared<test::WatchingSink>();
    std::vector<int> seen; // read after stop
    sink->on_push = [&](const Result& result) {
        // 1000 × the pixel, which is at most 250, and the count
        const auto value = static_cast<int>(result.image.host().as<float>().row(0)[0]);
        seen.push_back(value % 1000);
    };
    pipeline.add_sink(sink);
    pipeline.start();
    EXPECT_TRUE(eventually([&] { return sink->count() >= frames || pipeline.finished(); }));
    pipeline.stop();
    seen.resize(std::min(seen.size(), frames));
    return seen;
}

TEST(PlanPipeline, ADeclaredDiscontinuityRestartsWindows) {
    auto source = std::make_unique<test::ScriptedSource>(test::file_info(),
                                                         [](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.offered == 8)
                                                                 return Source::Status::end;
                                                             if (self.offered == 3 || self.offered == 4)
                                                                 port.discontinuity();
                                                             self.offer(port, test::kSmall);
                                                             return Source::Status::frame;
                                                         });
    EXPECT_EQ(histories(std::move(source), 8), (std::vector<int>{1, 2, 3, 1, 1, 2, 3, 4}));
}

TEST(PlanPipeline, AReopenedSourceRestartsWindows) {
    auto source = std::make_unique<test::ScriptedSource>(test::camera_info(),
                                                         [](test::ScriptedSource& self, FramePort& port) {
                                                             if (self.offered == 3 && self.opened == 1)
                                                                 throw RunError("the cable is out.");
                                                             if (self.offered >= 6)
                                                                 return test::nothing();
                                                             self.offer(port, test::kSmall);
                                                             return Source::Status::frame;
                                                         });
    EXPECT_EQ(histories(std::move(source), 6), (std::vector<int>{1, 2, 3, 1, 2, 3}));
}

TEST(PlanPipeline, AnEditWhilePausedShowsTheFrameWithoutAddingIt) {
    Chain chain = chain_of({count("a"), count("b")});
    chain.stages()[0].params.set("gain", 0.0);
    Pipeline pipeline(test::file_of(1000), chain, test::options());
    pipeline.pause(true);
    pipeline.start();
    Result result;
    for (int i = 0; i < 3; ++i) {
        pipeline.step();
        ASSERT_TRUE(eventually(
            [&] { return pipeline.stats().frames.processed == static_cast<std::uint64_t>(i) + 1; }));
    }
    const auto value = [](const Result& r) { return static_cast<int>(r.image.host().as<float>().row(0)[0]); };
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return value(r) == 3003; }));
    for (const double weight : {2.0, 3.0}) {
        const std::uint64_t version = pipeline.edit(1, "weight", weight);
        ASSERT_TRUE(
            test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
        EXPECT_TRUE(result.repeated);
        EXPECT_EQ(value(result), 3000 + static_cast<int>(3 * weight));
    }
    const std::uint64_t version = pipeline.edit(1, "label", std::string("new"));
    ASSERT_TRUE(
        test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
    EXPECT_EQ(value(result), 3003) << "fresh, and it has taken in the one frame at weight 3";
    EXPECT_EQ(result.warmup.frames, 3);
    pipeline.step();
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return !r.repeated; }));
    EXPECT_EQ(value(result), 4006);
}

} // namespace specklescope::plan_test
