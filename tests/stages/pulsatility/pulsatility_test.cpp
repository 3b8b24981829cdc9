// Pulsatility on the host matches the stored frames, beat by beat.
#include "tests/support/images.hpp"
#include "tests/support/stage_runner.hpp"

#include "base/error.hpp"
#include "stages/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace specklescope::test::pulsatility_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// (max − min)/mean of the defined samples; undefined with an infinite one, or without any.
double index_of(const std::vector<double>& beat) {
    std::vector<double> defined;
    for (const double v : beat)
        if (std::isinf(v))
            return kNan;
        else if (!std::isnan(v))
            defined.push_back(v);
    if (defined.empty())
        return kNan;
    std::sort(defined.begin(), defined.end());
    long double sum = 0;
    for (const double v : defined)
        sum += v;
    if (sum <= 0) // (max − min)/mean is undefined there
        return kNan;
    return static_cast<double>((defined.back() - defined.front()) /
                               (sum / static_cast<long double>(defined.size())));
}

/// The mean over beats, and the mean of absolute values: values of either sign may cancel in the first.
struct Wanted {
    double index = kNan, magnitude = kNan;
};

/// From all samples of a pixel since the last reset.
Wanted oracle(const std::vector<double>& samples, std::size_t frames, std::size_t beats) {
    const std::size_t whole = samples.size() / frames;
    if (whole == 0)
        return {index_of(samples), std::abs(index_of(samples))};
    double sum = 0, magnitude = 0;
    int defined = 0;
    for (std::size_t beat = whole - std::min(whole, beats); beat < whole; ++beat) {
        const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(beat * frames);
        const double index = index_of({begin, begin + static_cast<std::ptrdiff_t>(frames)});
        if (!std::isnan(index)) {
            sum += index;
            magnitude += std::abs(index);
            ++defined;
        }
    }
    return defined > 0 ? Wanted{sum / defined, magnitude / defined} : Wanted{};
}

template <class T, class Make> void expect_stream(std::size_t frames, std::size_t beats, Make&& make) {
    constexpr int kWidth = 19, kHeight = 5;
    StageRunner run("pulsatility", {"frames=" + std::to_string(frames), "beats=" + std::to_string(beats)},
                    {kWidth, kHeight, 1, TestImage<T>(1, 1).shape().type});
    std::vector<std::vector<double>> samples(kWidth * kHeight);
    const std::size_t count = frames * (2 * beats + 1) + frames / 2;
    for (std::size_t t = 0; t < count; ++t) {
        const TestImage<T> frame = make();
        run.run(frame);
        PixelCounts expected;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                std::vector<double>& list = samples[static_cast<std::size_t>(y * kWidth + x)];
                list.push_back(static_cast<double>(frame.at(x, y)));
                const auto [wanted, magnitude] = oracle(list, frames, beats);
                const float is = run.output.at(x, y);
                expected.undefined += std::isnan(wanted) ? 1 : 0;
                expected.infinite += std::isinf(wanted) ? 1 : 0;
                ASSERT_EQ(std::isnan(is), std::isnan(wanted)) << t << ' ' << x << ' ' << y;
                if (std::isfinite(wanted)) { // each index and the mean are rounded to f32: 2⁻²⁴ each
                    ASSERT_NEAR(is, wanted, 1.3e-7 * magnitude) << t << ' ' << x << ' ' << y;
                }
            }
        ASSERT_EQ(run.counts, expected) << t;
        ASSERT_EQ(run.held(), static_cast<int>(std::min(t + 1, frames * beats)));
        const TestImage<float> before = run.output;
        run.run(make(), true); // shows its present result
        for (int x = 0; x < kWidth; ++x)
            ASSERT_TRUE(run.output.at(x, 2) == before.at(x, 2) ||
                        (std::isnan(before.at(x, 2)) && std::isnan(run.output.at(x, 2))));
    }
}

TEST(Pulsatility, MatchesTheStoredFramesForEveryType) {
    auto random = test_random(15501);
    for (const auto& [frames, beats] :
         std::vector<std::pair<std::size_t, std::size_t>>{{2, 1}, {2, 3}, {7, 2}, {25, 3}}) {
        expect_stream<std::uint8_t>(frames, beats,
                                    [&] { return uniform_image<std::uint8_t>(19, 5, 0, 255, random); });
        expect_stream<std::uint16_t>(frames, beats,
                                     [&] { return uniform_image<std::uint16_t>(19, 5, 0, 65535, random); });
        expect_stream<float>(frames, beats, [&] { return uniform_image<float>(19, 5, 0.5, 1000, random); });
        expect_stream<float>(frames, beats, [&] { // some of every kind
            TestImage<float> frame = uniform_image<float>(19, 5, -3, 7, random);
            for (int i = 0; i < 30; ++i)
                frame.at(static_cast<int>(random() % 19), static_cast<int>(random() % 5)) =
                    random() % 8 != 0   ? kNan
                    : random() % 2 == 0 ? kInfinite
                                        : -kInfinite;
            for (int x = 0; x < 19; ++x)
                frame.at(x, 3) = x < 10 ? kNan : 0;
            return frame;
        });
    }
}

/// 1 + a·cos: (max − min)/mean is 2a for any start of a beat.
TEST(Pulsatility, OfAKnownWaveIsItsDepth) {
    constexpr int kFrames = 40;
    StageRunner run("pulsatility", {"frames=40", "beats=2"}, {16, 3, 1, PixelType::f32});
    for (int t = 0; t < 5 * kFrames; ++t) {
        TestImage<float> frame(16, 3);
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 16; ++x)
                frame.at(x, y) = static_cast<float>(
                    100 * (1 + 0.02 * x * std::cos(2 * std::numbers::pi * (t + 2.0 * y) / kFrames)));
        run.run(frame);
        if (t + 1 < kFrames)
            continue;
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 16; ++x)
                ASSERT_NEAR(run.output.at(x, y), 0.04 * x, 2e-6) << t;
    }
}

TEST(Pulsatility, ForgetsEverythingOnReset) {
    auto random = test_random(15502);
    StageRunner used("pulsatility", {"frames=3", "beats=2"}, {9, 4, 1, PixelType::u8});
    StageRunner fresh("pulsatility", {"frames=3", "beats=2"}, {9, 4, 1, PixelType::u8});
    for (int t = 0; t < 11; ++t)
        used.run(uniform_image<std::uint8_t>(9, 4, 0, 255, random));
    used.stage().reset();
    EXPECT_EQ(used.held(), 0);
    for (int t = 0; t < 9; ++t) {
        const TestImage<std::uint8_t> frame = uniform_image<std::uint8_t>(9, 4, 1, 255, random);
        used.run(frame);
        fresh.run(frame);
        EXPECT_EQ(used.held(), fresh.held());
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 9; ++x)
                ASSERT_EQ(used.output.at(x, y), fresh.output.at(x, y)) << t;
    }
}

TEST(Pulsatility, ReportsItsMemoryAndWhatDoesNotFit) {
    StageRunner run("pulsatility", {"frames=60", "beats=3"}, {1000, 1000, 1, PixelType::f32});
    EXPECT_EQ(run.stage().note(), "3 beats, 34 MB");
    const HistoryBytes bytes{.frame = 1000, .other = 500, .parameter = "beats"};
    try {
        check_history("stage pulsatility", "this computer", 9, bytes, 5600);
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("beats = 9 of this size take 9500 bytes"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("at most beats = 5 fit."), std::string::npos)
            << error.what();
    }
}

} // namespace specklescope::test::pulsatility_test
