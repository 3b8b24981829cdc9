// Counts, fractions and percentiles of an image's values, compared with numpy.
#include "analysis/histogram.hpp"
#include "pipeline/mapping.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

namespace specklescope::histogram_test {

constexpr const char* kNumpy = R"py(
import numpy as np
v = np.fromfile("values.f32", np.float32)
v = v[np.isfinite(v)].astype(float)
low, high = -1.25, 3.5
counts, _ = np.histogram(v, 37, (low, high))
print(*counts)
print(np.mean(v < low), np.mean(v > high))
print(*[np.percentile(v, p, method="nearest") for p in (0, 1, 25, 99, 100)])
)py";

TEST(Histogram, MatchesNumpy) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::normal_distribution<float> number(0.5F, 2);
    const Shape shape{211, 173, 1, PixelType::f32}; // below 65 536 pixels: all are used
    std::vector<float> pixels(shape.pixels());
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = i % 97 == 0   ? std::numeric_limits<float>::quiet_NaN()
                    : i % 89 == 0 ? std::numeric_limits<float>::infinity()
                                  : number(random);
    const TemporaryFolder folder;
    test::write_file(folder / "values.f32",
                     {reinterpret_cast<const char*>(pixels.data()), pixels.size() * sizeof(float)});
    ASSERT_TRUE(test::python(folder, kNumpy)) << test::read_file(folder / "python.log");
    std::istringstream truth(test::read_file(folder / "python.log"));

    ValueSample sample;
    sample.take(ConstHostView(reinterpret_cast<const std::byte*>(pixels.data()), shape));
    EXPECT_EQ(sample.pixels_each(), 1);
    std::array<std::uint32_t, 37> bins{};
    sample.count(-1.25, 3.5, bins);
    for (std::size_t i = 0; i < bins.size(); ++i) {
        std::uint32_t wanted = 0;
        truth >> wanted;
        EXPECT_EQ(bins[i], wanted) << "bin " << i;
    }
    double below = 0, above = 0;
    truth >> below >> above;
    EXPECT_NEAR(sample.share_below(-1.25), below, 1e-12);
    EXPECT_NEAR(sample.share_above(3.5), above, 1e-12);
    for (const double percent : {0.0, 1.0, 25.0, 99.0, 100.0}) {
        double wanted = 0;
        truth >> wanted;
        EXPECT_NEAR(*sample.percentile(percent), wanted, std::abs(wanted) * 1e-6) << percent;
    }
    EXPECT_TRUE(truth.good());
    EXPECT_EQ(
        *sample.percentile(1),
        percentile_range(ConstHostView(reinterpret_cast<const std::byte*>(pixels.data()), shape), 1, 99).low);
    ValueSample read;
    read.take(pixels, 4 * pixels.size());
    EXPECT_EQ(read.size(), sample.size());
    EXPECT_EQ(read.percentile(25), sample.percentile(25));
    EXPECT_EQ(read.pixels_each(), 4);
}

TEST(Histogram, WithoutValuesIsEmpty) {
    ValueSample sample;
    EXPECT_FALSE(sample.percentile(50).has_value());
    std::array<std::uint32_t, 4> bins{9, 9, 9, 9};
    sample.count(0, 1, bins);
    EXPECT_EQ(bins, (std::array<std::uint32_t, 4>{}));
    EXPECT_EQ(sample.share_below(0) + sample.share_above(0) + sample.pixels_each(), 0);
}

TEST(Histogram, SamplesLargeImages) {
    const Shape shape{1392, 1040, 1, PixelType::u16};
    std::vector<std::uint16_t> pixels(shape.pixels());
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<std::uint16_t>(i % 1000);
    ValueSample sample;
    sample.take(ConstHostView(reinterpret_cast<const std::byte*>(pixels.data()), shape));
    EXPECT_LE(sample.size(), 65536U);
    EXPECT_NEAR(sample.pixels_each() * static_cast<double>(sample.size()), 1392.0 * 1040, 1);
    EXPECT_NEAR(*sample.percentile(50), 500, 20);
}

} // namespace specklescope::histogram_test
