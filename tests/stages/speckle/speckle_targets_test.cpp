// Speckle contrast on the host matches docs/science.md's formulas to 1e-6 of K, on every instruction set.
#include "tests/stages/speckle/speckle_expect.hpp"
#include "tests/support/instruction_sets.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace specklescope::test::speckle_targets_test {

class SpeckleTargets : public EveryInstructionSet {};

TEST_P(SpeckleTargets, EveryRadiusTypeBorderAndOutput) {
    std::mt19937_64 random = test_random(1);
    const TestImage<std::uint8_t> u8 = uniform_image<std::uint8_t>(37, 33, 0, 255, random);
    const TestImage<std::uint16_t> u16 = uniform_image<std::uint16_t>(37, 33, 0, 65535, random);
    const TestImage<std::uint16_t> u12 = speckle_image<std::uint16_t>(37, 33, 900, 4095, random);
    const TestImage<float> f32 = uniform_image<float>(37, 33, 0, 5000, random);
    FrameInfo camera;
    camera.exposure_ms = 3.5;
    camera.full_scale = 4095;
    for (int radius = 1; radius <= 15; ++radius)
        for (const Border border : kBorders) {
            const SpeckleParams params = with(radius, Output::sfi, border);
            expect_every_output(u8, params);
            expect_every_output(u16, params);
            expect_every_output(u12, params, camera);
            expect_every_output(f32, params, camera);
        }
}

TEST_P(SpeckleTargets, EveryWidthHasItsTail) {
    std::mt19937_64 random = test_random(2);
    for (int width = 1; width <= 40; ++width)
        for (const Border border : kBorders) {
            const int radius =
                border == Border::crop ? std::min(3, (std::min(width, 9) - 1) / 2) : std::min(3, width);
            if (radius < 1)
                continue;
            const SpeckleParams params = with(radius, Output::contrast, border);
            expect_oracle(uniform_image<std::uint8_t>(width, 9, 0, 255, random), params);
            expect_oracle(uniform_image<std::uint16_t>(width, 9, 0, 65535, random), params);
            expect_oracle(uniform_image<std::uint16_t>(width, 9, 300, 3000, random), params);
            expect_oracle(uniform_image<float>(width, 9, 0, 1, random), params);
        }
}

TEST_P(SpeckleTargets, LowContrastOnAHighMean) { // float32 sums are 3e-4 off here
    std::mt19937_64 random = test_random(3);
    for (int radius = 1; radius <= 15; ++radius)
        for (const Border border : {Border::reflect, Border::zero}) {
            const SpeckleParams params = with(radius, Output::contrast, border);
            expect_oracle(low_contrast_image<std::uint16_t>(61, 40, 50000, 0.01, random), params);
            expect_oracle(low_contrast_image<float>(61, 40, 50000, 0.01, random), params);
            expect_oracle(low_contrast_image<std::uint16_t>(61, 40, 800, 0.01, random), params);
            expect_oracle(low_contrast_image<std::uint16_t>(61, 40, 3000, 0.002, random), params);
            expect_oracle(low_contrast_image<std::uint8_t>(61, 40, 200, 0.01, random), params);
        }
}

TEST_P(SpeckleTargets, ExtremesOfEveryType) { // the largest sums, and windows of one value
    std::mt19937_64 random = test_random(4);
    std::bernoulli_distribution coin(0.5);
    for (const int radius : {1, 2, 3, 7, 10, 11, 15}) {
        const SpeckleParams params = with(radius, Output::sfi, Border::replicate);
        for (const int top : {1, 255, 4095, 4096, 8191, 65535}) {
            expect_every_output(
                TestImage<std::uint16_t>(35, 34, 1).fill([&] { return coin(random) ? top : 0; }), params);
            expect_every_output(TestImage<std::uint16_t>(35, 34, 1).fill([&] { return top; }), params);
        }
        expect_every_output(TestImage<std::uint8_t>(35, 34, 1).fill([&] { return coin(random) ? 255 : 0; }),
                            params);
        expect_every_output(TestImage<std::uint8_t>(35, 34, 1), params);
        expect_every_output(TestImage<float>(35, 34, 1).fill([&] { return 0.1F; }), params);
    }
}

TEST_P(SpeckleTargets, UndefinedPixelsNextToOthers) { // a black half, a flat half, speckle between
    std::mt19937_64 random = test_random(5);
    std::uniform_int_distribution<int> value(0, 200);
    const auto fill = [&]<class T>(TestImage<T> image) {
        for (int y = 0; y < image.shape().height; ++y)
            for (int x = 0; x < image.shape().width; ++x)
                image.at(x, y) = static_cast<T>(x < 20 ? 0 : x >= 44 ? 123 : value(random));
        return image;
    };
    for (const Border border : kBorders)
        for (const Output output : kOutputs) {
            expect_oracle(fill(TestImage<std::uint8_t>(67, 30, 2)), with(2, output, border));
            expect_oracle(fill(TestImage<std::uint16_t>(67, 30, 2)), with(3, output, border));
            expect_oracle(fill(TestImage<float>(67, 30, 2)), with(4, output, border));
        }
}

TEST_P(SpeckleTargets, WideImagesAreCutIntoTiles) {
    std::mt19937_64 random = test_random(6);
    const SpeckleParams params = with(3, Output::contrast, Border::reflect);
    expect_oracle(uniform_image<std::uint16_t>(5003, 8, 0, 65535, random), params);
    expect_oracle(uniform_image<std::uint16_t>(5003, 8, 0, 1023, random), params);
    expect_oracle(uniform_image<std::uint8_t>(kMaxSide, 3, 0, 255, random), params);
    expect_oracle(uniform_image<std::uint16_t>(kMaxSide, 3, 65000, 65535, random), params);
    expect_oracle(uniform_image<float>(1600, 8, 0, 1, random), params);
}

// The address sanitizer detects a tile wider than its memory.
TEST_P(SpeckleTargets, NoTileIsWiderThanItsSums) {
    std::mt19937_64 random = test_random(7);
    for (const int radius : {1, 2, 7, 15}) {
        const SpeckleParams params = with(radius, Output::contrast, Border::crop);
        const int least = 2 * radius + 1;
        for (const int width : {510, 512, 1010, 1020, 1022, 1023, 1024, 1025, 2044, 2048})
            expect_oracle(uniform_image<float>(width, least, 0, 1, random), params);
        for (const int width : {1535, 1537, 3071, 3072})
            expect_oracle(uniform_image<std::uint16_t>(width, least, 0, 65535, random), params);
    }
}

// f32: running sums where they are exact enough, merged groups elsewhere.

void expect_exact(const TestImage<float>& image, const SpeckleParams& params) {
    expect_oracle(image, params, {}, 3e-7);
}

TEST_P(SpeckleTargets, RealsOfEveryRadius) { // several chunks of rows, segments that overlap
    std::mt19937_64 random = test_random(20);
    for (int radius = 1; radius <= 15; ++radius)
        for (const Border border : {Border::crop, Border::reflect, Border::zero}) {
            const int height = radius < 4 ? 170 : 40;
            const Output output = radius % 2 == 0 ? Output::contrast : Output::sfi;
            expect_exact(uniform_image<float>(131, height, 0, 7, random), with(radius, output, border));
            TestImage<float> image = uniform_image<float>(97, height, 1, 4, random);
            for (int y = 2; y < height; y += 4)
                for (int x = 2; x < 97; x += 4)
                    image.at(x, y) = -0.3F;
            expect_exact(image, with(radius, output, border));
        }
}

/// Samples of mean ± (deviation from `low` on the left to `high` on the right).
TestImage<float> gradient_image(double mean, double low, double high, std::mt19937_64& random) {
    TestImage<float> image(160, 40);
    std::uniform_real_distribution<double> part(-1.7, 1.7);
    for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 160; ++x)
            image.at(x, y) = static_cast<float>(mean + part(random) * low * std::pow(high / low, x / 160.0));
    return image;
}

TEST_P(SpeckleTargets, RealsAroundTheLeastContrastOfRunningSums) {
    std::mt19937_64 random = test_random(21);
    for (const int radius : {1, 2, 3, 7, 15}) {
        const SpeckleParams params = with(radius, Output::contrast, Border::replicate);
        for (const double change : {0.7, 0.9, 1.0, 1.1, 1.4}) { // s.d. of 2⁻¹⁰ of the largest sample
            const double deviation = 1000 * 0x1p-10 * change;
            expect_exact(gradient_image(1000, deviation, deviation, random), params);
        }
        expect_exact(gradient_image(1000, 0.2, 5, random), params);
        expect_exact(gradient_image(50000, 0.004, 0.5, random), params); // a few steps of f32
    }
}

TEST_P(SpeckleTargets, RealsAroundTheLeastMeanOfRunningSums) {
    for (const double mean : {0x1p-17, 0x1p-18, 0x1p-19, 0x1p-21}) {
        TestImage<float> image(160, 24);
        for (int y = 0; y < 24; ++y) // columns of 0.9, 0 and −0.9 in turn
            for (int x = 0; x < 160; ++x)
                image.at(x, y) = static_cast<float>((x % 3 - 1) * 0.9 + mean * (1 + 0.1 * (y % 2)));
        for (const int radius : {1, 4, 7, 10}) // windows of whole periods
            expect_exact(image, with(radius, Output::contrast, Border::crop));
    }
}

TEST_P(SpeckleTargets, RealsOfEveryMagnitude) { // results are computed in f32
    std::mt19937_64 random = test_random(22);
    for (int decade = -30; decade <= 30; decade += 2)
        for (const Output output : {Output::sfi, Output::contrast})
            expect_exact(uniform_image<float>(100, 20, 0, std::pow(10, decade), random),
                         with(3, output, Border::replicate));
}

TEST_P(SpeckleTargets, StraySamplesAtTheBordersOfTiles) {
    std::mt19937_64 random = test_random(23);
    const TestImage<float> speckle = uniform_image<float>(1100, 60, 1, 2, random);
    for (const float stray : {1e30F, 1e7F, std::numeric_limits<float>::quiet_NaN()})
        for (const int radius : {1, 3}) {
            TestImage<float> image = speckle;
            for (const int x : {0, 90, 367, 368, 735, 736, 1099})
                image.at(x, 10 + x % 40) = stray;
            expect_exact(image, with(radius, Output::contrast2, Border::replicate));
        }
}

INSTANTIATE_TEST_SUITE_P(Processor, SpeckleTargets, instruction_sets(), instruction_set_name);

} // namespace specklescope::test::speckle_targets_test
