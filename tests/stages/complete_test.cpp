// Completeness of a chain of windows, and causes of restarts: frames that do not belong together never enter
// one result.
#include "pipeline/executor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace specklescope::complete_test {

constexpr Shape kSmallFrames{16, 12, 1, PixelType::u16};

class CompleteTest : public testing::Test {
protected:
    void use(const std::vector<std::string>& stages) {
        auto chain = std::make_shared<Chain>();
        for (const std::string& stage : stages)
            chain->add(stage);
        executor_->set_chain(chain, ++version_);
    }
    /// Runs a frame with `info` and pixels value(x, y) through the chain.
    template <class F> Result run(const FrameInfo& info, F&& value, bool again = false) {
        Frame frame = ring_.acquire(std::chrono::seconds(10));
        for (int y = 0; y < kSmallFrames.height; ++y)
            for (int x = 0; x < kSmallFrames.width; ++x)
                frame.host().as<std::uint16_t>().row(y)[x] = static_cast<std::uint16_t>(value(x, y));
        frame.info() = info;
        executor_->submit(frame, true, again);
        return *executor_->collect(true);
    }
    static std::vector<double> pixels(const Result& result) {
        std::vector<double> values;
        for (int y = 0; y < result.image.shape().height; ++y)
            for (int x = 0; x < result.image.shape().width; ++x)
                values.push_back(result.image.host().as<float>().row(y)[x]);
        return values;
    }

    std::unique_ptr<Executor> executor_ = make_host_executor(1);
    FrameRing ring_{kSmallFrames, 4, host_memory()};
    std::uint64_t version_ = 0;
};

/// Independent for every frame and pixel: constantly moving speckle.
int moving_speckle(int frame, int x, int y) {
    const auto bits = static_cast<std::uint32_t>((frame * 131 + y) * 257 + x) * 2654435761U;
    return 500 + static_cast<int>((bits ^ bits >> 15) * 2246822519U >> 22);
}

TEST_F(CompleteTest, WarmUpsOfAChainAddUp) {
    constexpr int kWindow = 25;
    std::vector<std::vector<double>> contrast2;
    use({"temporal:frames=25,output=contrast2"});
    for (int t = 0; t < 60; ++t)
        contrast2.push_back(pixels(run({}, [&](int x, int y) { return moving_speckle(t, x, y); })));
    executor_ = make_host_executor(1);
    use({"temporal:frames=25,output=contrast2", "average:frames=25", "flow:exposure=5"});
    for (int t = 0; t < 60; ++t) {
        const Result result = run({}, [&](int x, int y) { return moving_speckle(t, x, y); });
        EXPECT_EQ(result.warmup.done(), t >= 2 * (kWindow - 1)) << t;
        if (t < kWindow - 1)
            continue;
        const int first = std::max(kWindow - 1, t - kWindow + 1); // of K² over complete windows
        const std::vector<double> flow = pixels(result);
        for (std::size_t i = 0; i < flow.size(); ++i) {
            double sum = 0;
            for (int k = first; k <= t; ++k)
                sum += contrast2[static_cast<std::size_t>(k)][i];
            const double expected = (t - first + 1) / (2 * 0.005 * sum);
            ASSERT_NEAR(flow[i], expected, 1e-5 * expected) << t << ", " << i;
        }
    }
}

TEST_F(CompleteTest, FramesRecordedInAWarmUpAreIncomplete) {
    use({"average:frames=3"});
    for (int t = 0; t < 8; ++t) {
        FrameInfo info;
        info.recorded_in_warmup = t < 4;
        const Result result = run(info, [&](int, int) { return t < 4 ? 1000 : 100 + t; });
        EXPECT_EQ(result.warming_up(), t < 4 + 2) << t;
        if (t >= 4) {
            EXPECT_LT(pixels(result)[0], 110) << t;
        }
    }
}

TEST_F(CompleteTest, AnotherExposureGainOrFullScaleRestartsWindows) {
    const std::vector<void (*)(FrameInfo&)> changes = {[](FrameInfo& info) { info.exposure_ms = 20; },
                                                       [](FrameInfo& info) { info.gain = 6; },
                                                       [](FrameInfo& info) { info.full_scale = 4095; },
                                                       [](FrameInfo& info) { info.light = Light::decoded; }};
    for (const auto& change : changes) {
        executor_ = make_host_executor(1);
        use({"average:frames=4"});
        FrameInfo info;
        info.exposure_ms = 1;
        for (int t = 0; t < 6; ++t)
            EXPECT_EQ(run(info, [](int, int) { return 100; }).warmup.done(), t >= 3) << t;
        change(info);
        const Result result = run(info, [](int, int) { return 1000; });
        EXPECT_EQ(pixels(result)[0], 1000);
        EXPECT_EQ(result.warmup.frames, 1);
    }
}

TEST_F(CompleteTest, ContrastOfDifferentExposuresIsNeverAveraged) {
    const std::vector<double> exposures = {1, 2, 5, 10, 20, 10, 5, 2, 1, 1, 1.0001};
    std::vector<std::vector<double>> alone;
    for (const bool averaged : {false, true}) {
        executor_ = make_host_executor(1);
        use(averaged
                ? std::vector<std::string>{"speckle:radius=1,output=contrast2", "average:frames=5", "flow"}
                : std::vector<std::string>{"speckle:radius=1,output=contrast2", "flow"});
        for (std::size_t t = 0; t < exposures.size(); ++t) {
            FrameInfo info;
            info.exposure_ms = exposures[t];
            const Result result =
                run(info, [&](int x, int y) { return moving_speckle(static_cast<int>(t), x, y); });
            if (!averaged) {
                alone.push_back(pixels(result));
                continue;
            }
            if (t < 9) {
                EXPECT_EQ(pixels(result), alone[t]) << t;
            }
            EXPECT_EQ(result.warmup.frames, t < 9 ? 1 : static_cast<int>(t) - 7) << t;
        }
    }
}

TEST_F(CompleteTest, AFreeEditThatChangesResultsRestartsLaterWindows) {
    use({"background:black=0.5", "average:frames=4"});
    for (int t = 0; t < 5; ++t)
        run({}, [](int, int) { return 100; });
    use({"background:black=40", "average:frames=4"});
    const Result shown = run(
        {}, [](int, int) { return 100; }, true); // while paused
    EXPECT_EQ(pixels(shown)[0], 60);
    EXPECT_EQ(shown.warmup.frames, 1);
    EXPECT_EQ(pixels(run({}, [](int, int) { return 100; }))[0], 60);
}

TEST_F(CompleteTest, ACapturedDarkFrameRestartsWindows) {
    use({"background:dark=capture,frames=2", "average:frames=3"});
    for (int t = 0; t < 6; ++t) {
        const Result result = run({}, [&](int, int) { return t < 2 ? 40 : 100; });
        EXPECT_EQ(result.warmup.done(), t >= 2 + 2) << t;
        if (t >= 2) {
            EXPECT_EQ(pixels(result)[0], 60) << t;
        }
    }
}

} // namespace specklescope::complete_test
