// Speckle contrast on the device matches the formulas to 1e-6 of K.
#include <gtest/gtest.h>

#include "pipeline/convert.hpp"
#include "tests/cuda/cuda_speckle.hpp"

namespace specklescope::speckle_cuda_test {

template <class T> class CudaContrast : public Cuda {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(CudaContrast, PixelTypes);

TYPED_TEST(CudaContrast, AgreesWithTheFormulaAtEveryBorderAndShape) {
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {3, 5}, {17, 13}, {33, 31}, {131, 70}, {631, 479}})
        for (const int radius : {1, 2, 3, 7, 15})
            for (const Border border :
                 {Border::replicate, Border::reflect, Border::crop, Border::zero, Border::omit}) {
                const int side = std::min(width, height);
                if (border == Border::crop ? 2 * radius + 1 > side : radius > side)
                    continue;
                const auto picture = full_range<TypeParam>(width, height, kSeed);
                const SpeckleParams params{.radius = radius, .output = Output::contrast, .border = border};
                SCOPED_TRACE(describe(picture.shape, params));
                const int step = width * height * radius * radius < 2'000'000 ? 1 : radius < 7 ? 7 : 53;
                EXPECT_LE(this->worst(picture, params, step), 1e-6);
            }
}

TYPED_TEST(CudaContrast, AgreesWithTheFormulaAtEveryRadiusAndOutput) {
    // Wide enough for warps that only see the image.
    const auto picture = noise<TypeParam>(413, 61, 100, 0.3, kSeed);
    for (int radius = 1; radius <= 15; ++radius)
        for (const Output output :
             {Output::sfi, Output::contrast, Output::contrast2, Output::tau, Output::bfi}) {
            const SpeckleParams params{.radius = radius, .exposure_ms = 7.5, .output = output};
            SCOPED_TRACE(describe(picture.shape, params));
            EXPECT_LE(this->worst(picture, params, 3), 1e-6);
        }
}

/// So tall that strips have their maximum length, and the last one is shorter.
TYPED_TEST(CudaContrast, AgreesWithTheFormulaInLongStrips) {
    const auto picture = noise<TypeParam>(260, 40003, 100, 0.3, kSeed);
    for (const int radius : {1, 2, 4, 5, 7, 8, 12, 15}) {
        const SpeckleParams params{.radius = radius, .output = Output::contrast};
        SCOPED_TRACE(describe(picture.shape, params));
        EXPECT_LE(this->worst(picture, params, 1009), 1e-6);
    }
}

TYPED_TEST(CudaContrast, IsExactForConstantAndDarkImages) {
    for (const double level : {0.0, 1.0, 100.0, 200.0}) {
        Picture<TypeParam> picture(70, 40);
        std::fill(picture.pixels.begin(), picture.pixels.end(), static_cast<TypeParam>(level));
        for (const int radius : {1, 4, 9}) {
            this->use(SpeckleParams{.radius = radius});
            const Result result = this->run(picture);
            EXPECT_EQ(result.counts.undefined, level == 0 ? picture.shape.pixels() : 0);
            EXPECT_EQ(result.counts.infinite, level == 0 ? 0 : picture.shape.pixels());
            this->use(SpeckleParams{.radius = radius, .output = Output::contrast});
            const Result contrast = this->run(picture);
            const float middle = contrast.image.host().template as<float>().row(20)[30];
            EXPECT_TRUE(level == 0 ? std::isnan(middle) : middle == 0) << middle;
            EXPECT_EQ(contrast.counts.infinite, 0U);
        }
    }
}

TEST_F(Cuda, KeepsLowContrastOfBrightImages) {
    for (const int radius : {1, 2, 3, 5, 7, 8, 11, 15}) {
        const SpeckleParams params{.radius = radius, .output = Output::contrast};
        SCOPED_TRACE(describe(Shape{}, params));
        EXPECT_LE(worst(noise<std::uint16_t>(411, 150, 50000, 0.01, kSeed), params, 11), 1e-6);
        EXPECT_LE(worst(noise<float>(411, 150, 50000, 0.01, kSeed), params, 11), 1e-6);
        EXPECT_LE(worst(noise<std::uint16_t>(411, 150, 2000, 0.005, kSeed), params, 11), 1e-6); // 12 bit
    }
}

TEST_F(Cuda, NonFiniteSamplesAffectOnlyTheirWindows) {
    for (const float hole :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F, -3.4e38F}) {
        Picture<float> picture = noise<float>(400, 90, 1000, 0.1, kSeed);
        picture.at(190, 30) = hole;
        picture.at(399, 89) = hole;
        for (const int radius : {1, 3, 10}) {
            const SpeckleParams params{.radius = radius, .output = Output::contrast};
            use(params);
            const Result result = run(picture);
            const auto got = result.image.host().as<float>();
            std::uint64_t spoilt = 0;
            for (int y = 0; y < got.height; ++y)
                for (int x = 0; x < got.width; ++x) {
                    const bool near = std::max(std::abs(x - 190), std::abs(y - 30)) <= radius ||
                                      (x + radius >= 399 && y + radius >= 89);
                    const auto value = static_cast<double>(got.row(y)[x]);
                    if (near) {
                        spoilt += std::isnan(value) ? 1 : 0;
                        continue;
                    }
                    const Truth truth = truth_at(picture, x, y, radius, params.border, 0);
                    ASSERT_LE(contrast_error(value, truth_value(truth, params), params.output), 1e-6)
                        << x << ", " << y << " radius " << radius << " hole " << hole;
                }
            EXPECT_EQ(result.counts.undefined, spoilt);
            if (!std::isfinite(hole)) {
                const auto side = static_cast<std::uint64_t>(2 * radius + 1);
                EXPECT_EQ(spoilt, side * side + static_cast<std::uint64_t>((radius + 1) * (radius + 1)));
            }
        }
    }
}

TEST_F(Cuda, FloatsOfMeanZeroAreUndefined) {
    Picture<float> picture(9, 9);
    for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 9; ++x)
            picture.at(x, y) = static_cast<float>((x + y) % 3 - 1); // each 3×3 window sums to 0
    for (const Output output : {Output::sfi, Output::bfi, Output::contrast, Output::contrast2, Output::tau}) {
        use({.radius = 1, .output = output, .border = Border::crop});
        const Result result = run(picture);
        EXPECT_EQ(of_stage(result.counts), (PixelCounts{49, 0, 0}));
        EXPECT_TRUE(std::isnan(result.image.host().as<float>().row(3)[3]));
    }
}

TYPED_TEST(CudaContrast, CountsUndefinedInfiniteAndSaturatedPixels) {
    std::mt19937_64 random(kSeed);
    for (const Border border : {Border::replicate, Border::reflect, Border::crop, Border::zero, Border::omit})
        for (const int radius : {1, 2, 7, 15}) {
            auto picture = noise<TypeParam>(403, 97, 90, 0.2, kSeed);
            for (int y = 10; y < 60; ++y)
                for (int x = 20; x < 250; ++x)
                    picture.at(x, y) = static_cast<TypeParam>(x < 150 ? 0 : 7);
            for (int i = 0; i < 50; ++i)
                picture.at(static_cast<int>(random() % 403), static_cast<int>(random() % 97)) =
                    static_cast<TypeParam>(220);
            const SpeckleParams params{.radius = radius, .border = border};
            SCOPED_TRACE(describe(picture.shape, params));
            this->use(params);
            const double full = 219.5;
            const Result result = this->run(picture, full);
            PixelCounts want;
            const int margin = border == Border::crop ? radius : 0;
            for (int y = margin; y < 97 - margin; ++y)
                for (int x = margin; x < 403 - margin; ++x) {
                    const Truth truth = truth_at(picture, x, y, radius, border, full);
                    const double value = truth_value(truth, params);
                    want.undefined += std::isnan(value) ? 1 : 0;
                    want.infinite += std::isinf(value) ? 1 : 0;
                    want.saturated += truth.saturated ? 1 : 0;
                }
            EXPECT_EQ(of_stage(result.counts), want)
                << result.counts.undefined << " " << result.counts.infinite << " " << result.counts.saturated
                << " want " << want.undefined << " " << want.infinite << " " << want.saturated;
        }
}

TEST_F(Cuda, SaturationOfIntegersIsTheTypesWithoutACameraValue) {
    auto picture = noise<std::uint16_t>(64, 48, 20000, 0.1, kSeed);
    use(SpeckleParams{.radius = 2});
    EXPECT_EQ(of_stage(run(picture).counts), PixelCounts{});
    picture.at(30, 20) = 65535;
    EXPECT_EQ(of_stage(run(picture).counts), (PixelCounts{.saturated = 25}));
    auto bytes = noise<std::uint8_t>(64, 48, 100, 0.1, kSeed);
    bytes.at(0, 0) = 255;
    EXPECT_EQ(of_stage(run(bytes).counts), (PixelCounts{.saturated = 9}));
    auto reals = noise<float>(64, 48, 100, 0.1, kSeed);
    reals.at(0, 0) = 1e6F;
    EXPECT_EQ(of_stage(run(reals).counts), PixelCounts{});
}

TEST_F(Cuda, ColourBecomesLumaLikeOnTheHost) {
    const auto picture = noise<std::uint8_t>(75, 50, 120, 0.3, kSeed, 3);
    Picture<float> grey(75, 50);
    convert(ConstHostView(reinterpret_cast<const std::byte*>(picture.pixels.data()), picture.shape),
            HostView(reinterpret_cast<std::byte*>(grey.pixels.data()), grey.shape), GreyChannel::luma);
    use(SpeckleParams{});
    const Result from_colour = run(picture);
    const Result from_grey = run(grey);
    for (int y = 0; y < 50; ++y)
        ASSERT_EQ(
            std::memcmp(from_colour.image.host().row(y), from_grey.image.host().row(y), 75 * sizeof(float)),
            0);
    EXPECT_EQ(from_colour.timings[2].name, "convert");
}

} // namespace specklescope::speckle_cuda_test
