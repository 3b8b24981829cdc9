// The power law compared with its formula in long double, at every level and over the range of f32.
#include "stages/tone/gamma.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

namespace specklescope::test::gamma_test {

Params gamma_params(double gamma) {
    Params params(*find_stage("gamma").table);
    params.set("gamma", gamma);
    return params;
}

template <class T> TestImage<T> run_gamma(TestImage<T>& image, double gamma, double camera_full_scale,
                                          PixelCounts* counted = nullptr) {
    const auto stage = find_stage("gamma").make_host(gamma_params(gamma));
    EXPECT_EQ(stage->prepare(image.shape()), image.shape());
    TestImage<T> output(image.shape().width, image.shape().height, 5, image.shape().channels);
    FrameInfo info;
    info.full_scale = camera_full_scale;
    PixelCounts counts;
    stage->run(image.view(), output.view(), {info, counts});
    if (counted)
        *counted = counts;
    return output;
}

long double power_law(long double v, long double full, long double gamma) {
    return std::copysign(full * std::pow(std::abs(v) / full, gamma), v);
}

template <class T> void expect_levels(double gamma, double camera_full_scale) {
    constexpr int kLevels = std::numeric_limits<T>::max() + 1;
    TestImage<T> image(256, kLevels / 256);
    int next = 0;
    image.fill([&] { return next++; });
    const TestImage<T> output = run_gamma(image, gamma, camera_full_scale);
    const long double full = camera_full_scale > 0 ? camera_full_scale : kLevels - 1;
    for (int level = 0; level < kLevels; ++level) {
        const long double exact =
            std::min<long double>(kLevels - 1, power_law(level, full, static_cast<long double>(gamma)));
        EXPECT_LE(std::abs(exact - output.at(level % 256, level / 256)), 0.5000001L) << level;
    }
}

TEST(Gamma, EveryLevelIsTheNearestToTheFormula) {
    for (const double gamma : {0.1, 0.45, 1.0, 2.2, 10.0}) {
        SCOPED_TRACE(gamma);
        expect_levels<std::uint8_t>(gamma, 0);
        expect_levels<std::uint16_t>(gamma, 0);
        expect_levels<std::uint16_t>(gamma,
                                     4095); // samples above full scale are clamped to the type's maximum
    }
}

TEST(Gamma, RealSamplesKeepTheirSign) {
    auto random = test_random(60);
    for (const double gamma : {0.1, 0.45, 1.0, 2.2, 10.0})
        for (const double full : {0.0, 4095.0})
            for (const int channels : {1, 3}) {
                const double scale = full > 0 ? full : 1;
                TestImage<float> image(41, 23, 2, channels);
                std::uniform_real_distribution<double> value(-1.2 * scale, 1.2 * scale);
                image.fill([&] { return value(random); });
                const TestImage<float> output = run_gamma(image, gamma, full);
                // The power is taken of v over full scale: subnormal numbers have fewer digits.
                const double smallest = std::numeric_limits<float>::denorm_min() * scale;
                for (int y = 0; y < 23; ++y)
                    for (int x = 0; x < 41 * channels; ++x) {
                        const long double exact =
                            power_law(image.at(x, y), scale, static_cast<long double>(gamma));
                        ASSERT_NEAR(output.at(x, y), static_cast<double>(exact),
                                    2e-6 * std::abs(static_cast<double>(exact)) + smallest)
                            << image.at(x, y) << " to the power " << gamma;
                    }
            }
}

TEST(Gamma, UndefinedAndInfinitePixelsStayAndAreCounted) {
    TestImage<float> image(4, 1);
    const float infinity = std::numeric_limits<float>::infinity();
    image.at(0, 0) = std::nanf("");
    image.at(1, 0) = infinity;
    image.at(2, 0) = -infinity;
    image.at(3, 0) = -0.0F;
    PixelCounts counts;
    const TestImage<float> output = run_gamma(image, 2.2, 0, &counts);
    EXPECT_TRUE(std::isnan(output.at(0, 0)));
    EXPECT_EQ(output.at(1, 0), infinity);
    EXPECT_EQ(output.at(2, 0), -infinity);
    EXPECT_EQ(output.at(3, 0), 0.0F);
    EXPECT_EQ(counts, (PixelCounts{.undefined = 1, .infinite = 2, .saturated = 0}));
}

TEST(Gamma, AFreeEditAndAnotherFullScaleTakeEffectOnTheNextFrame) {
    TestImage<std::uint16_t> image(1, 1);
    image.at(0, 0) = 1024;
    TestImage<std::uint16_t> output(1, 1);
    const auto stage = find_stage("gamma").make_host(gamma_params(0.5));
    stage->prepare(image.shape());
    FrameInfo info;
    PixelCounts counts;
    const auto result = [&](double full_scale) {
        info.full_scale = full_scale;
        stage->run(image.view(), output.view(), {info, counts});
        return output.at(0, 0);
    };
    EXPECT_EQ(result(4096), 2048);
    EXPECT_EQ(result(16384), 4096);
    stage->set_params(gamma_params(2));
    EXPECT_EQ(result(16384), 64);
}

TEST(Gamma, OfOneIsSkippedAndKeepsTheQuantity) {
    const StageType& type = find_stage("gamma");
    const Quantity flow{"speckle flow index", "SFI", "1/s"};
    EXPECT_TRUE(type.passes(gamma_params(1)));
    EXPECT_EQ(type.quantity(gamma_params(1), flow).unit, "1/s");
    EXPECT_FALSE(type.passes(gamma_params(2)));
    EXPECT_EQ(type.quantity(gamma_params(2), flow).unit, "a.u.");
    EXPECT_EQ(type.quantity(gamma_params(2), type.quantity(gamma_params(2), flow)).symbol, "SFI^γ");
}

} // namespace specklescope::test::gamma_test
