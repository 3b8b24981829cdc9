// Undefined and infinite samples do not spread through filters.
#include "stages/convolve/convolve.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/stage_runner.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace specklescope::test::defined_test {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

bool is_finite_sample(float value) { return std::isfinite(value); }

/// Numbers of 100 … 200 with a block and single samples of each non-finite kind, also at the edges.
TestImage<float> with_holes(int width, int height, std::uint64_t stream) {
    auto random = test_random(stream);
    TestImage<float> image = uniform_image<float>(width, height, 100, 200, random);
    for (int y = 10; y < 15; ++y)
        for (int x = 20; x < 25; ++x)
            image.at(x, y) = kUndefined;
    image.at(0, 0) = image.at(width - 1, 7) = image.at(30, 30) = kInfinite;
    image.at(31, 29) = image.at(5, height - 1) = -kInfinite;
    return image;
}

/// Σ weight·sample / Σ weight, over a separable kernel and the finite samples.
double filter_truth(const TestImage<float>& image, const std::vector<double>& taps, int x, int y,
                    Border border) {
    const int radius = static_cast<int>(taps.size()) / 2;
    double sum = 0;
    double weights = 0;
    for (int j = -radius; j <= radius; ++j)
        for (int i = -radius; i <= radius; ++i) {
            const int u = oracle_index(x + i, image.shape().width, border);
            const int v = oracle_index(y + j, image.shape().height, border);
            const double weight =
                taps[static_cast<std::size_t>(i + radius)] * taps[static_cast<std::size_t>(j + radius)];
            const bool zero = u < 0 || v < 0;
            if (zero && border != Border::zero)
                continue;
            const float sample = zero ? 0 : image.at(u, v);
            weights += is_finite_sample(sample) ? weight : 0;
            sum += is_finite_sample(sample) ? weight * static_cast<double>(sample) : 0;
        }
    return weights > 0 ? sum / weights : std::nan("");
}

TEST(Defined, GaussianIsTheMeanOfFiniteSamplesInReach) {
    const TestImage<float> image = with_holes(50, 40, 1);
    for (const std::string method : {"direct", "fft", "binomial3", "binomial5"})
        for (const std::string border : {"replicate", "reflect", "wrap", "zero", "omit", "crop"}) {
            const std::vector<std::string> texts = {"method=" + method, "border=" + border, "sigma=1.5"};
            const auto params = params_of("gaussian", texts).as<GaussianParams>();
            StageRunner stage("gaussian", texts, image.shape());
            stage.run(image);
            const std::vector<double> taps = oracle_taps(params);
            const int shift = border == "crop" ? static_cast<int>(taps.size()) / 2 : 0;
            std::uint64_t undefined = 0;
            for (int y = 0; y < stage.output.shape().height; ++y)
                for (int x = 0; x < stage.output.shape().width; ++x) {
                    const double expected = filter_truth(image, taps, x + shift, y + shift, params.border);
                    const float found = stage.output.at(x, y);
                    undefined += std::isnan(found) ? 1 : 0;
                    if (std::isnan(expected)) {
                        ASSERT_TRUE(std::isnan(found)) << method << " " << border << " " << x << " " << y;
                    } else {
                        ASSERT_NEAR(found, expected, 0.01) << method << " " << border << " " << x << " " << y;
                    }
                }
            EXPECT_EQ(stage.counts.undefined, undefined);
            EXPECT_EQ(stage.counts.infinite, 0U);
        }
}

TEST(Defined, RecursiveGaussianIsNormalisedByItsMask) {
    const TestImage<float> image = with_holes(90, 70, 2);
    TestImage<float> values = image;
    TestImage<float> mask = image;
    for (int y = 0; y < 70; ++y)
        for (int x = 0; x < 90; ++x) {
            values.at(x, y) = is_finite_sample(image.at(x, y)) ? image.at(x, y) : 0;
            mask.at(x, y) = is_finite_sample(image.at(x, y)) ? 1 : 0;
        }
    for (const std::string border : {"replicate", "reflect", "wrap", "omit"}) {
        const std::vector<std::string> texts = {"sigma=6", "border=" + border};
        StageRunner found("gaussian", texts, image.shape());
        StageRunner sum("gaussian", texts, image.shape());
        StageRunner weight("gaussian", texts, image.shape());
        found.run(image);
        sum.run(values);
        weight.run(mask);
        EXPECT_EQ(found.stage().note(), "recursive (auto)");
        for (int y = 0; y < 70; ++y)
            for (int x = 0; x < 90; ++x)
                ASSERT_NEAR(found.output.at(x, y), sum.output.at(x, y) / weight.output.at(x, y), 0.01)
                    << border << " " << x << " " << y;
    }
}

TEST(Defined, OneDeadBlockLeavesAllOfABlurredContrastDefined) {
    auto random = test_random(3);
    TestImage<std::uint8_t> image = uniform_image<std::uint8_t>(160, 128, 50, 150, random);
    for (int y = 60; y < 65; ++y)
        for (int x = 70; x < 75; ++x)
            image.at(x, y) = 0;
    StageRunner speckle("speckle", {"radius=2", "output=contrast2"}, image.shape());
    speckle.run(image);
    EXPECT_EQ(speckle.counts.undefined, 1U);
    StageRunner gaussian("gaussian", {"sigma=6"}, speckle.output.shape());
    gaussian.run(speckle.output);
    EXPECT_EQ(gaussian.counts, PixelCounts());
    for (int y = 0; y < 128; ++y)
        for (int x = 0; x < 160; ++x)
            ASSERT_GT(gaussian.output.at(x, y), 0);
}

TEST(Defined, ConvolutionKeepsTheSumOfItsKernel) {
    const TestImage<float> image = with_holes(50, 40, 4);
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "defined_test.npy";
    const auto write = [&](const std::vector<float>& weights) { // 3 × 3
        std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }";
        header.resize(117, ' ');
        header += '\n';
        std::ofstream out(file, std::ios::binary);
        out << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
        out.write(reinterpret_cast<const char*>(weights.data()),
                  static_cast<std::streamsize>(weights.size() * sizeof(float)));
    };
    const std::vector<std::string> texts = {"kernel=file", "file=" + file.string(), "normalize=false"};
    write({1, 2, 1, 2, 4, 2, 1, 2, 1});
    StageRunner sum("convolve", texts, image.shape());
    sum.run(image);
    write({0, -1, 0, -1, 4, -1, 0, -1, 0});
    StageRunner difference("convolve", texts, image.shape());
    difference.run(image);
    std::filesystem::remove(file);
    for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 50; ++x) {
            const double mean = filter_truth(image, {0.25, 0.5, 0.25}, x, y, Border::replicate);
            if (std::isnan(mean)) {
                ASSERT_TRUE(std::isnan(sum.output.at(x, y)));
            } else {
                ASSERT_NEAR(sum.output.at(x, y), 16 * mean, 0.02) << x << " " << y;
            }
            bool whole = true;
            double expected = 0;
            for (const auto& [i, j, weight] :
                 {std::tuple(0, -1, -1.0), {-1, 0, -1.0}, {0, 0, 4.0}, {1, 0, -1.0}, {0, 1, -1.0}}) {
                const float sample = image.at(oracle_index(x + i, 50, Border::replicate),
                                              oracle_index(y + j, 40, Border::replicate));
                whole = whole && is_finite_sample(sample);
                expected += weight * static_cast<double>(sample);
            }
            if (whole) {
                ASSERT_NEAR(difference.output.at(x, y), expected, 0.01) << x << " " << y;
            } else {
                ASSERT_TRUE(std::isnan(difference.output.at(x, y))) << x << " " << y;
            }
        }
}

TEST(Defined, OneConstantBlockLeavesAllOfAConvolvedIndexDefined) {
    auto random = test_random(5);
    TestImage<std::uint8_t> image = uniform_image<std::uint8_t>(80, 60, 50, 150, random);
    for (int y = 20; y < 30; ++y)
        for (int x = 30; x < 40; ++x)
            image.at(x, y) = 100;
    StageRunner speckle("speckle", {"radius=2", "output=sfi"}, image.shape());
    speckle.run(image);
    EXPECT_EQ(speckle.counts.infinite, 36U);
    StageRunner convolve("convolve", {"sigma=3"}, speckle.output.shape());
    convolve.run(speckle.output);
    EXPECT_EQ(convolve.counts, PixelCounts());
    for (int y = 0; y < 60; ++y)
        for (int x = 0; x < 80; ++x)
            ASSERT_GT(convolve.output.at(x, y), 0);
}

TEST(Defined, AFilterKeepsNoiseOnALargeNumber) {
    auto random = test_random(6);
    std::normal_distribution<double> noise(0, 1);
    TestImage<float> image(120, 90, 3);
    image.fill([&] { return 1e6 + noise(random); });
    TestImage<float> small = image;
    for (int y = 0; y < 90; ++y)
        for (int x = 0; x < 120; ++x)
            small.at(x, y) = image.at(x, y) - 1e6F;
    for (const std::string method : {"direct", "recursive", "fft", "binomial5"}) {
        const std::vector<std::string> texts = {"sigma=6", "method=" + method};
        StageRunner large("gaussian", texts, image.shape());
        StageRunner exact("gaussian", texts, image.shape());
        large.run(image);
        exact.run(small);
        for (int y = 0; y < 90; ++y)
            for (int x = 0; x < 120; ++x) // half a step of f32 at this size, and 1 % of the noise
                ASSERT_NEAR(static_cast<double>(large.output.at(x, y)),
                            1e6 + static_cast<double>(exact.output.at(x, y)), 0.03125 + 0.01)
                    << method << " " << x << " " << y;
    }
}

TEST(Defined, DownsampleIsTheMeanOfFiniteSamplesInABlock) {
    const TestImage<float> image = with_holes(50, 40, 9);
    for (const int factor : {2, 3, 4}) {
        StageRunner stage("downsample", {"factor=" + std::to_string(factor)}, image.shape());
        stage.run(image);
        for (int y = 0; y < 40 / factor; ++y)
            for (int x = 0; x < 50 / factor; ++x) {
                double sum = 0;
                int count = 0;
                for (int i = 0; i < factor * factor; ++i)
                    if (const float sample = image.at(x * factor + i % factor, y * factor + i / factor);
                        is_finite_sample(sample)) {
                        sum += static_cast<double>(sample);
                        ++count;
                    }
                if (count > 0) {
                    ASSERT_NEAR(stage.output.at(x, y), sum / count, 1e-4) << factor << " " << x << " " << y;
                } else {
                    ASSERT_TRUE(std::isnan(stage.output.at(x, y)));
                }
            }
    }
}

} // namespace specklescope::test::defined_test
