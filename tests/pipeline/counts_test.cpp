// Saturated samples and their number, compared with a simple loop.
#include "pipeline/counts.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace specklescope::test::counts_test {

FrameInfo of_full_scale(double full_scale) {
    FrameInfo info;
    info.full_scale = full_scale;
    return info;
}

TEST(SaturationThreshold, IsTheSmallestSampleAtFullScaleOrAbove) {
    EXPECT_EQ(saturation_threshold(PixelType::u8, of_full_scale(0)), 255) << "the type's own";
    EXPECT_EQ(saturation_threshold(PixelType::u16, of_full_scale(0)), 65535);
    EXPECT_EQ(saturation_threshold(PixelType::u16, of_full_scale(4095)), 4095);
    // An integer is at or above 100.5 from 101 on; only f32 has fractional samples.
    EXPECT_EQ(saturation_threshold(PixelType::u8, of_full_scale(100.5)), 101);
    EXPECT_EQ(saturation_threshold(PixelType::u16, of_full_scale(100.5)), 101);
    EXPECT_EQ(saturation_threshold(PixelType::f32, of_full_scale(100.5)), 100.5);
}

TEST(SaturationThreshold, IsMissingIfNoSampleCanReachIt) {
    EXPECT_EQ(saturation_threshold(PixelType::f32, of_full_scale(0)), std::nullopt);
    EXPECT_EQ(saturation_threshold(PixelType::u8, of_full_scale(256)), std::nullopt);
    EXPECT_EQ(saturation_threshold(PixelType::u8, of_full_scale(255)), 255);
    EXPECT_EQ(saturation_threshold(PixelType::u16, of_full_scale(65536)), std::nullopt);
    EXPECT_EQ(saturation_threshold(PixelType::f32, of_full_scale(1e6)), 1e6);
}

/// Rows longer than the range of one narrow counter, thresholds equal to samples.
TEST(CountSaturated, IsTheNumberOfSamplesAtTheThresholdOrAbove) {
    std::mt19937_64 random = test_random(21);
    const auto expect_count = [&]<class T>(TestImage<T> image, double threshold) {
        std::uint64_t expected = 0;
        const Shape shape = image.shape();
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width * shape.channels; ++x)
                expected += static_cast<double>(image.at(x, y)) >= threshold ? 1 : 0;
        EXPECT_EQ(count_saturated(image.view(), threshold), expected)
            << to_string(shape) << " at " << threshold;
    };
    for (const auto& [width, height, channels] :
         {std::tuple{1, 1, 1}, {239, 3, 1}, {241, 70, 1}, {1000, 5, 3}, {40000, 2, 1}}) {
        for (const double threshold : {1.0, 101.0, 255.0}) {
            expect_count(
                TestImage<std::uint8_t>(width, height, 3, channels).fill([&] { return random() % 256; }),
                threshold);
            expect_count(
                TestImage<std::uint16_t>(width, height, 3, channels).fill([&] { return 95 + random() % 12; }),
                threshold);
            expect_count(TestImage<float>(width, height, 3, channels).fill([&] {
                return 0.5 * static_cast<double>(random() % 210);
            }),
                         threshold);
        }
        expect_count(TestImage<std::uint8_t>(width, height, 3, channels).fill([] { return 255; }), 255);
        expect_count(TestImage<std::uint16_t>(width, height, 3, channels).fill([] { return 7; }), 7);
    }
}

TEST(CountUndefined, DistinguishesNanAndInfinityInEveryChannel) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    for (const int channels : {1, 3}) {
        auto image = TestImage<float>(50, 40, 3, channels).fill([] { return 1; });
        image.at(0, 0) = kNan;
        image.at(3, 1) = kInf;
        image.at(6, 39) = -kInf;
        image.at((50 - 1) * channels, 39) = kNan;
        PixelCounts counts{.undefined = 10, .infinite = 20};
        count_undefined(image.view(), counts);
        EXPECT_EQ(counts.undefined, 12U) << channels;
        EXPECT_EQ(counts.infinite, 22U) << channels;
    }
    PixelCounts counts;
    count_undefined(TestImage<std::uint8_t>(5, 4).view(), counts);
    EXPECT_EQ(counts, PixelCounts{}) << "whole numbers are always defined";
}

} // namespace specklescope::test::counts_test
