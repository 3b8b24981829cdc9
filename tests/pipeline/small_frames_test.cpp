// Small frames that wait for each other give the results of single frames.
#include "pipeline/executor.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <vector>

namespace specklescope::small_frames_test {

constexpr Shape kShape{256, 37, 1, PixelType::u8};
constexpr int kFrames = 60;

/// Two times as many frames as start together on a GPU lie between the discontinuity and the edit below, so
/// that their graph is used again.
std::vector<Frame> frames_with_saturated_samples(FrameRing& ring) {
    auto random = test::test_random(1);
    std::uniform_int_distribution<int> level(0, 254), place(0, kShape.width - 1);
    std::vector<Frame> frames;
    for (int i = 0; i < kFrames; ++i) {
        Frame frame = ring.try_acquire();
        for (int y = 0; y < kShape.height; ++y)
            for (int x = 0; x < kShape.width; ++x)
                frame.host().as<std::uint8_t>().row(y)[x] = static_cast<std::uint8_t>(level(random));
        if (i % 9 == 0)
            frame.host().as<std::uint8_t>().row(i % kShape.height)[place(random)] = 255;
        frame.info().sequence = static_cast<std::uint64_t>(i);
        frame.info().discontinuity = i == 0 || i == 12;
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
    executor->prepare(kShape, true);
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
        const ConstHostView one = single[i].image.host(), other = together[i].image.host();
        ASSERT_EQ(other.shape, one.shape);
        for (int y = 0; y < one.shape.height; ++y)
            ASSERT_EQ(std::memcmp(one.row(y), other.row(y), one.shape.row_bytes()), 0) << i << ", row " << y;
    }
}

class SmallFrames : public testing::TestWithParam<std::tuple<On, std::vector<std::string>>> {};

TEST_P(SmallFrames, GiveTheSameResultsTogetherAsOneByOne) {
    const auto& [where, stages] = GetParam();
    if (where == On::device && !test::needs_gpu())
        return;
    FrameRing ring(kShape, kFrames, host_memory());
    const std::vector<Frame> frames = frames_with_saturated_samples(ring);
    const std::vector<Result> single = results_of(where, stages, frames, 1);
    for (const int most : {8, kFrames}) {
        SCOPED_TRACE(most);
        expect_same(results_of(where, stages, frames, most), single);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Chains, SmallFrames,
    testing::Combine(testing::Values(On::host, On::device),
                     testing::Values(std::vector<std::string>{}, std::vector<std::string>{"speckle:radius=2"},
                                     std::vector<std::string>{"speckle:radius=2", "average:frames=4"},
                                     std::vector<std::string>{"gaussian:sigma=1", "speckle:border=crop",
                                                              "average:frames=3", "gaussian:sigma=2"},
                                     std::vector<std::string>{"average:frames=3,kind=exponential", "speckle"},
                                     std::vector<std::string>{"background:dark=capture,frames=3,flat=none",
                                                              "average:frames=5"},
                                     std::vector<std::string>{"temporal:frames=3", "gaussian:sigma=1"},
                                     std::vector<std::string>{"temporal:frames=20,output=bfi",
                                                              "average:frames=20"},
                                     std::vector<std::string>{"register", "speckle", "average:frames=2"})));

} // namespace specklescope::small_frames_test
