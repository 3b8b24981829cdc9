// Small frames that wait for each other give the results of single frames.
#include "analysis/region.hpp"
#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "pipeline/executor.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <vector>

namespace specklescope::small_frames_test {

constexpr Shape shape_of(int channels) { return {256, 37, channels, PixelType::u8}; }
constexpr int kFrames = 60;

/// Two times as many frames as start together on a GPU lie between the discontinuity and the edit below, so
/// that their graph is used again. Some frames have a sample at full scale, some a part without light.
std::vector<Frame> random_frames(FrameRing& ring) {
    const Shape& shape = ring.shape();
    const int samples = shape.width * shape.channels;
    auto random = test::test_random(1);
    std::uniform_int_distribution<int> level(0, 254), place(0, samples - 1);
    std::vector<Frame> frames;
    for (int i = 0; i < kFrames; ++i) {
        Frame frame = ring.try_acquire();
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < samples; ++x)
                frame.host().as<std::uint8_t>().row(y)[x] = i % 7 == 3 && y / 10 == 1 && x / 50 == 2
                                                                ? std::uint8_t{0}
                                                                : static_cast<std::uint8_t>(level(random));
        if (i % 9 == 0)
            frame.host().as<std::uint8_t>().row(i % shape.height)[place(random)] = 255;
        frame.info().sequence = static_cast<std::uint64_t>(i);
        frame.info().discontinuity = i == 0 || i == 12;
        frame.info().recorded_in_warmup = i >= 30 && i < 34;
        frames.push_back(std::move(frame));
    }
    return frames;
}

enum class On { host, device };

std::unique_ptr<Executor> executor_on(On where) {
#ifdef SPECKLESCOPE_HAVE_CUDA
    if (where == On::device)
        return make_cuda_executor();
#endif
    static_cast<void>(where);
    return make_host_executor(4);
}

/// `most`: frames submitted before results are collected.
std::vector<Result> results_of(On where, const std::vector<std::string>& stages,
                               const std::vector<Frame>& frames, int most) {
    const auto executor = executor_on(where);
    auto chain = std::make_shared<Chain>();
    for (const std::string& stage : stages)
        chain->add(stage);
    executor->set_chain(chain, 1);
    executor->set_regions(make_outlines({{"inside", RegionShape::rectangle, {{9, 9}, {70, 24}}, "", false},
                                         {"line", RegionShape::line, {{12, 12}, {90, 20}}, "", false}},
                                        true),
                          1);
    executor->prepare(frames[0].shape(), true);
    std::vector<Result> results;
    const auto collect = [&] {
        while (std::optional<Result> result = executor->collect(executor->in_flight() > 0))
            results.push_back(std::move(*result));
    };
    for (const Frame& frame : frames) {
        executor->submit(frame, true);
        if (executor->in_flight() >= std::min(most, executor->capacity()))
            collect();
        if (frame.info().sequence == 50) { // an edit takes effect for the next frame
            auto edited = std::make_shared<Chain>(*chain);
            for (ChainStage& stage : edited->stages())
                if (stage.type->name == "speckle")
                    stage.params.set("exposure", 3.0);
            executor->set_chain(edited, 2);
        }
    }
    collect();
    return results;
}

void expect_same(const std::vector<Result>& together, const std::vector<Result>& single) {
    ASSERT_EQ(together.size(), single.size());
    for (std::size_t i = 0; i < single.size(); ++i) {
        EXPECT_EQ(together[i].info.sequence, i);
        EXPECT_EQ(together[i].info.version, single[i].info.version);
        EXPECT_EQ(together[i].counts, single[i].counts) << i;
        EXPECT_EQ(together[i].warmup, single[i].warmup) << i;
        ASSERT_TRUE(together[i].regions && single[i].regions);
        const std::vector<RegionStatistics>&statistics = single[i].regions->statistics,
              &others = together[i].regions->statistics;
        ASSERT_EQ(others.size(), statistics.size());
        EXPECT_EQ(std::memcmp(statistics.data(), others.data(), statistics.size() * sizeof(statistics[0])), 0)
            << i;
        const ConstHostView one = single[i].image.host(), other = together[i].image.host();
        ASSERT_EQ(other.shape, one.shape);
        for (int y = 0; y < one.shape.height; ++y)
            ASSERT_EQ(std::memcmp(one.row(y), other.row(y), one.shape.row_bytes()), 0) << i << ", row " << y;
    }
}

class SmallFrames : public testing::TestWithParam<std::tuple<On, int, std::vector<std::string>>> {};

TEST_P(SmallFrames, GiveTheSameResultsTogetherAsOneByOne) {
    const auto& [where, channels, stages] = GetParam();
    if (where == On::device && !test::needs_gpu())
        return;
    FrameRing ring(shape_of(channels), kFrames, host_memory());
    const std::vector<Frame> frames = random_frames(ring);
    const std::vector<Result> single = results_of(where, stages, frames, 1);
    for (const int most : {8, kFrames}) {
        SCOPED_TRACE(most);
        expect_same(results_of(where, stages, frames, most), single);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Chains, SmallFrames,
    testing::Combine(
        testing::Values(On::host, On::device), testing::Values(1, 3),
        testing::Values(
            std::vector<std::string>{}, std::vector<std::string>{"speckle:radius=2"},
            std::vector<std::string>{"speckle:radius=2", "average:frames=4"},
            std::vector<std::string>{"gaussian:sigma=1", "speckle:border=crop", "average:frames=3",
                                     "gaussian:sigma=2"},
            std::vector<std::string>{"average:frames=3,kind=exponential", "speckle"},
            std::vector<std::string>{"speckle:output=contrast2", "average:frames=20", "flow:input=contrast2"},
            std::vector<std::string>{"gaussian:method=binomial5", "speckle:border=omit,black=2",
                                     "average:frames=6,kind=exponential"},
            std::vector<std::string>{"background:dark=capture,frames=3,flat=none", "average:frames=5"},
            std::vector<std::string>{"temporal:frames=3", "gaussian:sigma=1"},
            std::vector<std::string>{"speckle", "gaussian:method=binomial5"},
            std::vector<std::string>{"speckle", "gaussian:method=recursive,sigma=2"},
            std::vector<std::string>{"temporal:frames=20,output=bfi", "average:frames=20"},
            std::vector<std::string>{"register", "speckle", "average:frames=2"})));

/// A host executor with this chain, prepared for grey frames.
std::unique_ptr<Executor> executor_with(int threads, const std::vector<std::string>& stages) {
    auto executor = make_host_executor(threads);
    auto chain = std::make_shared<Chain>();
    for (const std::string& stage : stages)
        chain->add(stage);
    executor->set_chain(chain, 1);
    executor->prepare(shape_of(1), true);
    return executor;
}

/// Another executor's limit of the threads of the process ends while images between stages exist.
TEST(SmallFramesOnTheHost, AsManyAreInFlightAfterTheThreadsOfTheProcessChange) {
    FrameRing ring(shape_of(1), kFrames, host_memory());
    const std::vector<Frame> frames = random_frames(ring);
    const auto executor = executor_with(20, {"gaussian:sigma=1", "average:frames=1"});
    std::size_t collected = 0;
    const auto collect = [&] {
        for (; executor->in_flight() > 0; ++collected)
            EXPECT_EQ(executor->collect(true)->info.sequence, collected);
    };
    int most = 0;
    {
        const ProcessThreadLimit one(1);
        for (int i = 0; i < 3; ++i) {
            executor->submit(frames[static_cast<std::size_t>(i)], true);
            if (i != 1)
                collect();
        }
        most = executor->capacity();
    }
    EXPECT_EQ(executor->capacity(), most);
    for (std::size_t i = 3; i < 11; ++i)
        executor->submit(frames[i], true);
    collect();
    EXPECT_EQ(collected, 11U);
}

/// A frame for whose images no memory is left is refused, and the next ones run.
TEST(SmallFramesOnTheHost, AFrameWithoutMemoryLeavesTheOthers) {
    FrameRing ring(shape_of(1), kFrames, host_memory());
    const std::vector<Frame> frames = random_frames(ring);
    const auto executor = executor_with(4, {"gaussian:sigma=1", "speckle:radius=2"});
    executor->submit(frames[0], true);
    EXPECT_EQ(executor->collect(true)->info.sequence, 0U);
    {
        const MemoryLimit none(1); // byte
        EXPECT_THROW(executor->submit(frames[1], true), RunError);
        EXPECT_EQ(executor->in_flight(), 0);
    }
    for (std::size_t i = 2; i < 12; ++i)
        executor->submit(frames[i], true);
    for (std::size_t i = 2; i < 12; ++i)
        EXPECT_EQ(executor->collect(true)->info.sequence, i);
    EXPECT_EQ(executor->in_flight(), 0);
}

} // namespace specklescope::small_frames_test
