// Filters of images with undefined and infinite samples, and with noise on a large number: device and host
// agree.
#include "tests/cuda/cuda_stage.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace specklescope::test::defined_cuda_test {

using DefinedCuda = CudaStage;

TEST_F(DefinedCuda, FiltersOmitNonFiniteSamples) {
    constexpr int kWidth = 203, kHeight = 90;
    for (const char* stage :
         {"gaussian:method=binomial3", "gaussian:method=binomial5,border=omit",
          "gaussian:sigma=1,method=direct,border=crop", "gaussian:sigma=1,method=direct,border=omit",
          "gaussian:sigma=2,method=direct", "gaussian:sigma=6,method=direct",
          "gaussian:sigma=6,method=recursive", "gaussian:sigma=6,method=fft",
          "gaussian:sigma=6,method=direct,border=omit", "gaussian:sigma=6,method=recursive,border=zero",
          "gaussian:sigma=6,method=direct,border=zero", "convolve:sigma=3", "convolve:kernel=disk,radius=8",
          "convolve:sigma=3,border=zero"})
        for (const int channels : {1, 3})
            for (const double offset : {0.0, 1e6})
                for (const bool holes : {false, true}) {
                    SCOPED_TRACE(std::string(stage) + ", " + std::to_string(channels) + " channels, offset " +
                                 std::to_string(offset) + (holes ? ", holes" : ""));
                    TestImage<float> image(kWidth, kHeight, 3, channels);
                    auto random = test_random(7310);
                    std::normal_distribution<double> noise(10, 1);
                    image.fill([&] { return static_cast<float>(offset + noise(random)); });
                    for (int y = 30; y < 35 && holes; ++y) // a dead block, as in a contrast image
                        for (int x = 60; x < 65; ++x)
                            image.at(x * channels, y) = std::numeric_limits<float>::quiet_NaN();
                    if (holes)
                        image.at(150 * channels, 70) = std::numeric_limits<float>::infinity();
                    TestImage<float> device = run_device(image, stage);
                    TestImage<float> host = run_host_stage(image, stage);
                    ASSERT_EQ(device.shape(), host.shape());
                    double worst = 0, largest = 0;
                    int undefined = 0;
                    for (int y = 0; y < host.shape().height; ++y)
                        for (int x = 0; x < host.shape().width * channels; ++x) {
                            const double a = host.at(x, y), b = device.at(x, y);
                            undefined += std::isfinite(a) == std::isfinite(b) ? 0 : 1;
                            worst = std::max(worst, std::abs(a - b));
                            largest = std::max(largest, std::abs(a));
                        }
                    EXPECT_EQ(undefined, 0) << "on one of them";
                    // Zeros outside keep the large number in the sums.
                    const bool zeros = std::string(stage).find("zero") != std::string::npos;
                    EXPECT_LE(worst, 1e-4 + (zeros ? 4e-6 : 2e-7) * largest);
                }
}

/// A pixel is counted once, however many of its samples are undefined.
TEST_F(DefinedCuda, PixelsWithoutFiniteSamplesInReachAreCounted) {
    for (const char* stage :
         {"gaussian:method=binomial3", "gaussian:method=binomial3,border=zero", "gaussian:method=binomial5",
          "gaussian:method=binomial5,border=crop", "gaussian:method=direct,sigma=1,border=reflect",
          "gaussian:method=direct,sigma=1.25,border=omit", "gaussian:method=direct,sigma=2,border=wrap",
          "gaussian:method=direct,sigma=6", "gaussian:method=recursive,sigma=1"})
        for (const int channels : {1, 3}) {
            SCOPED_TRACE(std::string(stage) + ", " + std::to_string(channels) + " channels");
            TestImage<float> image(331, 90, 3, channels);
            auto random = test_random(7311);
            std::uniform_real_distribution<double> level(1, 2);
            image.fill([&] { return static_cast<float>(level(random)); });
            for (int y = 0; y < 60; ++y) // blocks in all channels, from the edge on, and in one
                for (int x = 0; x < 331; ++x)
                    for (int c = 0; c < channels; ++c)
                        if (x < 140 || (x >= 200 && c == y / 30))
                            image.at(x * channels + c, y) = c == 1 ? std::numeric_limits<float>::infinity()
                                                                   : std::numeric_limits<float>::quiet_NaN();
            const TestImage<float> device = run_device(image, stage);
            const TestImage<float> host = run_host_stage(image, stage);
            ASSERT_EQ(device.shape(), host.shape());
            std::uint64_t undefined = 0, differ = 0;
            for (int y = 0; y < host.shape().height; ++y)
                for (int x = 0; x < host.shape().width; ++x) {
                    bool any = false;
                    for (int i = x * channels; i < (x + 1) * channels; ++i) {
                        any = any || std::isnan(device.at(i, y));
                        differ += std::isnan(device.at(i, y)) != std::isnan(host.at(i, y)) ? 1 : 0;
                    }
                    undefined += any ? 1 : 0;
                }
            EXPECT_GT(undefined, 0U);
            EXPECT_EQ(differ, 0U);
            EXPECT_EQ(counts_.undefined, undefined);
            EXPECT_EQ(counts_.infinite, 0U);
        }
}

} // namespace specklescope::test::defined_cuda_test
