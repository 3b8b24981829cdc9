// The running mean equals the mean of stored frames, after ten frames and after thousands, and numpy's for
// undefined or infinite samples.
#include "stages/average/average.hpp"
#include "tests/reference/average_reference.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/stage_runner.hpp"

namespace specklescope::test::average_test {

/// Mean of the samples that are not NaN.
template <class T> double mean_of(const std::vector<T>& samples) {
    long double sum = 0;
    int count = 0;
    for (const T sample : samples)
        if (!std::isnan(static_cast<double>(sample))) {
            sum += sample;
            ++count;
        }
    return static_cast<double>(sum / count); // 0/0 is NaN, and so is ∞ − ∞
}

/// The bias-corrected exponential mean by definition: Σ(1−α)^age·I / Σ(1−α)^age over finite samples.
template <class T> double exponential_of(const std::vector<T>& samples, int frames) {
    long double sum = 0;
    long double weights = 0;
    long double weight = 1;
    for (std::size_t i = samples.size(); i-- > 0;) {
        sum += weight * samples[i];
        weights += weight;
        weight *= 1 - 1.0L / frames;
    }
    return static_cast<double>(sum / weights);
}

/// Half a step of f32 at `largest`, the magnitude of the samples.
void expect_close(double value, double expected, double largest, const std::string& where) {
    if ((std::isnan(value) && std::isnan(expected)) || value == expected)
        return;
    EXPECT_NEAR(value, expected, 6.1e-8 * std::abs(expected) + 1e-13 * largest) << where;
}

template <class T, class Make>
void expect_window(int frames, int count, int step, int channels, double largest, Make&& make) {
    TestImage<T> frame = make(0);
    StageRunner run("average", {"frames=" + std::to_string(frames)}, frame.shape());
    LastFrames<T> window(frames);
    for (int t = 0; t < count && !testing::Test::HasFailure(); ++t) {
        if (t > 0)
            frame = make(t);
        window.add(frame);
        run.run(frame);
        EXPECT_EQ(run.held(), window.held());
        if (t >= 40 && t % step != 0 && t + 1 != count)
            continue;
        PixelCounts expected;
        for (int y = 0; y < frame.shape().height; ++y)
            for (int x = 0; x < frame.shape().width * channels; ++x) {
                const double mean = mean_of(window.samples(x, y));
                expected.undefined += std::isnan(mean) ? 1 : 0;
                expected.infinite += std::isinf(mean) ? 1 : 0;
                expect_close(run.output.at(x, y), mean, largest,
                             std::to_string(frames) + " frames, " + to_string(frame.shape()) + ", at " +
                                 std::to_string(t) + ": " + std::to_string(x) + ", " + std::to_string(y));
            }
        EXPECT_EQ(run.counts, expected);
    }
}

class AverageTargets : public EveryInstructionSet {};

TEST_P(AverageTargets, EveryTypeAndLength) {
    std::mt19937_64 random = test_random(1);
    for (const int frames : {1, 2, 7, 25}) {
        expect_window<std::uint8_t>(frames, 60, 7, 1, 255,
                                    [&](int) { return uniform_image<std::uint8_t>(21, 3, 0, 255, random); });
        expect_window<std::uint16_t>(frames, 60, 7, 1, 65535, [&](int) {
            return uniform_image<std::uint16_t>(21, 3, 0, 65535, random);
        });
        expect_window<float>(frames, 60, 7, 1, 10,
                             [&](int) { return uniform_image<float>(133, 3, -10, 10, random); });
    }
}

TEST_P(AverageTargets, Colour) {
    std::mt19937_64 random = test_random(2);
    std::uniform_int_distribution<int> value(0, 65535);
    expect_window<std::uint16_t>(5, 30, 1, 3, 65535, [&](int) {
        return TestImage<std::uint16_t>(7, 4, 2, 3).fill([&] { return value(random); });
    });
    expect_window<float>(5, 30, 1, 3, 65535, [&](int) {
        return TestImage<float>(7, 4, 2, 3).fill([&] { return value(random) / 7.0; });
    });
}

TEST_P(AverageTargets, LongWindowsOfTheLargestSamples) {
    std::mt19937_64 random = test_random(3);
    expect_window<std::uint16_t>(1000, 2100, 300, 1, 65535, [&](int) {
        return uniform_image<std::uint16_t>(9, 2, 65000, 65535, random);
    });
}

TEST_P(AverageTargets, ThousandsOfFramesDoNotDrift) {
    std::mt19937_64 random = test_random(4);
    expect_window<float>(10, 5000, 97, 1, 1, [&](int) { return uniform_image<float>(17, 2, -1, 1, random); });
}

TEST_P(AverageTargets, FloatsForgetLargeAndUndefinedSamples) {
    std::mt19937_64 random = test_random(5);
    expect_window<float>(6, 100, 1, 1, 1, [&](int t) {
        TestImage<float> image = uniform_image<float>(70, 3, -1, 1, random);
        if (t == 10 || t == 13 || t == 40)
            image.at(4, 1) = std::numeric_limits<float>::quiet_NaN();
        if (t == 12 || t == 30)
            image.at(5, 2) = (t == 12 ? 1.0F : -1.0F) * std::numeric_limits<float>::infinity();
        image.at(69, 0) = std::numeric_limits<float>::quiet_NaN(); // always
        return image;
    });
    StageRunner run("average", {"frames=3"}, {4, 1, 1, PixelType::f32});
    TestImage<float> frame(4, 1);
    for (int t = 0; t < 20; ++t) {
        frame.fill([&] { return t == 5 ? 1e12F : 0.25F; });
        run.run(frame);
    }
    EXPECT_EQ(run.output.at(2, 0), 0.25F);
}

TEST_P(AverageTargets, ExponentialIsTheWeightedMeanOfAllFrames) {
    std::mt19937_64 random = test_random(6);
    for (const int frames : {1, 2, 10, 1000}) {
        StageRunner run("average", {"kind=exponential", "frames=" + std::to_string(frames)},
                        {9, 2, 1, PixelType::u16});
        LastFrames<std::uint16_t> all(100000);
        for (int t = 0; t < 300; ++t) {
            const TestImage<std::uint16_t> frame = uniform_image<std::uint16_t>(9, 2, 0, 65535, random);
            all.add(frame);
            run.run(frame);
            EXPECT_EQ(run.held(), std::min(t + 1, frames));
            for (int x = 0; x < 9; ++x)
                expect_close(run.output.at(x, 1), exponential_of(all.samples(x, 1), frames), 65535,
                             std::to_string(frames) + " frames at " + std::to_string(t));
        }
    }
}

/// The sequences of average_reference.py among ordinary pixels, some in rows without non-finite samples.
template <class F> void expect_numpy(F&& run, const std::string& kind) {
    constexpr int kPixels = static_cast<int>(std::size(kAverageSamples));
    constexpr int kFrames = static_cast<int>(std::size(kAverageSamples[0]));
    constexpr int kStep = 31; // across borders of tiles and vectors
    TestImage<float> frame(kPixels * kStep, 3);
    for (int t = 0; t < kFrames; ++t) {
        frame.fill([t] { return static_cast<float>(t) + 0.5F; });
        for (int i = 0; i < kPixels; ++i)
            frame.at(i * kStep, 1) = static_cast<float>(kAverageSamples[i][t]);
        const auto [image, counts] = run(frame, t);
        PixelCounts expected;
        for (int i = 0; i < kPixels; ++i) {
            const double mean = kind == "window" ? kAverageWindow[i][t] : kAverageFading[i][t];
            expect_close(image.row(1)[i * kStep], mean, i == 7 ? 3e30 : 3,
                         kind + " at " + std::to_string(t) + ", sequence " + std::to_string(i));
            expected.undefined += std::isnan(mean) ? 1 : 0;
            expected.infinite += std::isinf(mean) ? 1 : 0;
        }
        EXPECT_EQ(counts, expected) << kind << " at " << t;
        for (const int y : {0, 2})
            for (int x = 1; x < frame.shape().width; ++x)
                ASSERT_EQ(image.row(y)[x], image.row(y)[0]);
        for (int x = 1; x < frame.shape().width; ++x)
            if (x % kStep != 0) {
                ASSERT_NEAR(image.row(1)[x], image.row(0)[0], 1e-6 * image.row(0)[0]);
            }
    }
}

TEST_P(AverageTargets, NonFiniteSamplesMatchNumpy) {
    for (const std::string kind : {"window", "exponential"}) {
        const int frames = kind == "window" ? kAverageWindowFrames : kAverageFadingFrames;
        StageRunner run("average", {"kind=" + kind, "frames=" + std::to_string(frames)},
                        {static_cast<int>(std::size(kAverageSamples)) * 31, 3, 1, PixelType::f32});
        for (int round = 0; round < 2; ++round) {
            expect_numpy(
                [&](const TestImage<float>& frame, int) {
                    run.run(frame);
                    return std::pair(View<const float>{&run.output.at(0, 0), run.output.shape().width,
                                                       run.output.shape().height, 1, run.output.view().pitch},
                                     run.counts);
                },
                kind);
            run.stage().reset();
        }
    }
}

class AverageOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backend, AverageOn, testing::Values("cpu", "cuda"), backend_name);

TEST_P(AverageOn, NonFiniteSamplesMatchNumpy) {
    for (const std::string kind : {"window", "exponential"}) {
        const int frames = kind == "window" ? kAverageWindowFrames : kAverageFadingFrames;
        executor->set_chain(chain_of_stages({"average:kind=" + kind + ",frames=" + std::to_string(frames)}),
                            1);
        std::unique_ptr<FrameRing> ring;
        Result result;
        expect_numpy(
            [&](const TestImage<float>& pixels, int t) {
                if (!ring)
                    ring = std::make_unique<FrameRing>(pixels.shape(), 2, executor->slot_memory());
                Frame frame = ring->acquire(std::chrono::seconds(10));
                copy_pixels(pixels.view(), frame.host());
                frame.info().discontinuity = t == 0;
                executor->submit(std::move(frame), true, false);
                result = *executor->collect(true);
                return std::pair(ConstHostView(result.image.host()).as<float>(), result.counts);
            },
            kind);
    }
}

TEST_P(AverageTargets, ExponentialRecoversAfterALongGap) {
    StageRunner gap("average", {"kind=exponential", "frames=3"}, {70, 1, 1, PixelType::f32});
    StageRunner whole("average", {"kind=exponential", "frames=3"}, {70, 1, 1, PixelType::f32});
    std::mt19937_64 random = test_random(7);
    for (int t = 0; t < 300; ++t) {
        TestImage<float> frame = uniform_image<float>(70, 1, 1, 2, random);
        whole.run(frame);
        if (t >= 20 && t < 40)
            frame.at(5, 0) = std::numeric_limits<float>::quiet_NaN();
        gap.run(frame);
        if (t <= 120)
            continue;
        for (int x = 0; x < 70; ++x)
            ASSERT_NEAR(gap.output.at(x, 0), whole.output.at(x, 0), 2.4e-7) << t << ", " << x;
    }
}

INSTANTIATE_TEST_SUITE_P(Highway, AverageTargets, instruction_sets(), instruction_set_name);

TEST(Average, AgainAndReset) {
    for (const char* kind : {"kind=window", "kind=exponential"}) {
        StageRunner run("average", {kind, "frames=4"}, {2, 1, 1, PixelType::u8});
        TestImage<std::uint8_t> frame(2, 1);
        const auto feed = [&](int value, bool again) {
            frame.fill([value] { return value; });
            run.run(frame, again);
            return run.output.at(0, 0);
        };
        EXPECT_EQ(feed(10, true), 10); // empty window: the frame is added
        EXPECT_EQ(feed(10, true), 10);
        EXPECT_EQ(run.held(), 1);
        const float second = feed(20, false);
        EXPECT_EQ(run.held(), 2);
        EXPECT_EQ(feed(20, true), second);
        EXPECT_EQ(run.held(), 2);
        run.stage().reset();
        EXPECT_EQ(run.held(), 0);
        EXPECT_EQ(feed(99, false), 99);
    }
}

TEST(Average, KeepsTheFullScale) {
    StageRunner run("average", {"frames=2"}, {2, 1, 1, PixelType::u8});
    FrameInfo info;
    run.stage().describe(info);
    EXPECT_EQ(info.full_scale, 255);
    info.full_scale = 200;
    run.stage().describe(info);
    EXPECT_EQ(info.full_scale, 200);
}

} // namespace specklescope::test::average_test
