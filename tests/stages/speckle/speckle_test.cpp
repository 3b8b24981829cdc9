// Speckle contrast on the host matches docs/science.md's formulas to 1e-6 of K: unusual images and edits, and
// values from other sources.
#include "base/parallel.hpp"
#include "tests/reference/speckle_reference.hpp"
#include "tests/stages/speckle/speckle_expect.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>
#include <tiffio.h>

#include <filesystem>
#include <functional>
#include <string>

namespace specklescope::test::speckle_test {

TEST(Speckle, AwkwardShapes) {
    std::mt19937_64 random = test_random(7);
    const int shapes[][2] = {{1, 1}, {2, 1}, {1, 200}, {200, 1}, {17, 13}, {16, 16}, {631, 479}};
    for (const auto& [width, height] : shapes)
        for (const Border border : {Border::replicate, Border::reflect, Border::zero}) {
            const SpeckleParams params = with(std::min({width, height, 4}), Output::contrast, border);
            expect_oracle(uniform_image<std::uint8_t>(width, height, 0, 255, random), params);
            expect_oracle(speckle_image<std::uint16_t>(width, height, 900, 4095, random), params);
            expect_oracle(speckle_image<std::uint16_t>(width, height, 20000, 65535, random), params);
            expect_oracle(uniform_image<float>(width, height, 1, 2, random), params);
        }
}

TEST(Speckle, RadiusMustFitTheImage) {
    Params params(*find_stage("speckle").table);
    params.set("radius", std::int64_t{9});
    EXPECT_THROW(find_stage("speckle").make_host(params)->prepare({20, 8, 1, PixelType::u8}), UsageError);
    EXPECT_EQ(find_stage("speckle").make_host(params)->prepare({20, 9, 1, PixelType::u8}),
              (Shape{20, 9, 1, PixelType::f32}));
    params.set("border", std::string("crop"));
    EXPECT_THROW(find_stage("speckle").make_host(params)->prepare({20, 18, 1, PixelType::u8}), UsageError);
    EXPECT_EQ(find_stage("speckle").make_host(params)->prepare({20, 19, 1, PixelType::u8}),
              (Shape{2, 1, 1, PixelType::f32}));
}

/// The largest radius named by the refusal is accepted, the next is not.
TEST(Speckle, ARefusalNamesTheLargestRadius) {
    for (const char* border : {"crop", "replicate"})
        for (int side = 3; side <= 12; ++side) {
            const auto refusal = [&](int radius) -> std::string {
                Params params(*find_stage("speckle").table);
                params.set("radius", std::int64_t{radius});
                params.set("border", std::string(border));
                try {
                    find_stage("speckle").make_host(params)->prepare({20, side, 1, PixelType::u8});
                } catch (const UsageError& error) {
                    return error.what();
                }
                return "";
            };
            const std::string said = refusal(15), key = "allowed: up to ";
            ASSERT_NE(said.find(key), std::string::npos) << said;
            const int largest = std::stoi(said.substr(said.find(key) + key.size()));
            EXPECT_EQ(refusal(largest), "") << border << ", side " << side;
            EXPECT_EQ(refusal(largest + 1), said.substr(0, said.find("15")) + std::to_string(largest + 1) +
                                                said.substr(said.find("15") + 2));
        }
}

TEST(Speckle, AgreesWithScipy) {
    std::uint32_t state = 12345;
    const TestImage<std::uint16_t> image =
        TestImage<std::uint16_t>(kReferenceWidth, kReferenceHeight).fill([&] {
            state = 1664525U * state + 1013904223U;
            return state >> 16;
        });
    for (const SpeckleReference& reference : kSpeckleReference) {
        Params params(*find_stage("speckle").table);
        params.set("radius", std::int64_t{reference.radius});
        params.set("output", std::string("contrast2"));
        params.set("border", std::string(reference.border));
        const HostResult result = run_host(image, params.as<SpeckleParams>());
        EXPECT_NEAR(result.image.at(reference.x, reference.y) / reference.contrast2, 1, 1e-6)
            << reference.border << ", radius " << reference.radius << ", at " << reference.x << ", "
            << reference.y;
    }
}

TEST(Speckle, HighDynamicRange) { // neighbouring windows of 1e-3 and of 1e6 do not affect each other
    std::mt19937_64 random = test_random(8);
    std::uniform_real_distribution<double> decade(-3, 6);
    std::uniform_real_distribution<double> part(0.9, 1.1);
    TestImage<float> image(150, 90, 3);
    for (int y = 0; y < 90; ++y)
        for (int x = 0; x < 150; ++x)
            image.at(x, y) = static_cast<float>(part(random) * (x % 75 < 36 ? 1e-3 : 1e6));
    for (const int radius : {1, 3, 8, 15})
        for (const Border border : kBorders)
            expect_oracle(image, with(radius, Output::contrast, border));
    expect_oracle(image.fill([&] { return std::pow(10, decade(random)); }),
                  with(5, Output::sfi, Border::replicate));
}

TEST(Speckle, FloatsThatDifferInTheirLastBit) { // K of 1e-8 is still K, and a flat window exactly 0
    std::mt19937_64 random = test_random(9);
    std::bernoulli_distribution rare(0.02);
    const float next = std::nextafter(50000.1F, 60000.0F);
    const TestImage<float> image =
        TestImage<float>(80, 60).fill([&] { return rare(random) ? next : 50000.1F; });
    for (const int radius : {1, 2, 7, 15})
        for (const Border border : {Border::replicate, Border::omit})
            expect_oracle(image, with(radius, Output::contrast, border));
}

/// In the middle of a row and of a column, outside all windows at the edges.
TEST(Speckle, AHugeSampleAffectsOnlyItsWindows) {
    std::mt19937_64 random = test_random(14);
    TestImage<float> image = uniform_image<float>(61, 43, 1, 2, random);
    TestImage<float> flat = TestImage<float>(61, 43).fill([] { return 1234.567F; });
    for (TestImage<float>* to : {&image, &flat})
        for (const auto& [x, y] : {std::pair{30, 0}, {30, 1}, {30, 21}, {30, 42}, {0, 21}, {60, 21}})
            to->at(x, y) = x == 0 ? 5e7F : 1e30F;
    for (const Border border : kBorders)
        for (const int radius : {1, 3}) {
            expect_oracle(image, with(radius, Output::contrast, border));
            expect_oracle(flat, with(radius, Output::sfi, border));
        }
}

/// K = s/⟨I⟩ is undefined for a mean not above 0, at the edges as everywhere.
TEST(Speckle, negative_images_are_undefined) {
    std::mt19937_64 random = test_random(15);
    const TestImage<float> image = uniform_image<float>(70, 30, -2, -1, random);
    for (const Output output : kOutputs)
        for (const Border border : kBorders) {
            const HostResult is = run_host(image, with(3, output, border));
            for (int y = 0; y < is.image.shape().height; ++y)
                for (int x = 0; x < is.image.shape().width; ++x)
                    ASSERT_TRUE(std::isnan(is.image.at(x, y)))
                        << x << ", " << y << ", border " << static_cast<int>(border);
        }
}

TEST(Speckle, NanAndInfinityStayInTheirWindows) {
    std::mt19937_64 random = test_random(10);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        TestImage<float> image = uniform_image<float>(90, 70, 10, 20, random);
        const TestImage<float> clean = image;
        image.at(41, 37) = bad;
        for (const int radius : {1, 3, 6})
            for (const Output output : kOutputs) {
                const SpeckleParams params = with(radius, output, Border::replicate);
                const HostResult result = run_host(image, params);
                const OracleResult expected = oracle_speckle(clean, params);
                for (int y = 0; y < 70; ++y)
                    for (int x = 0; x < 90; ++x) {
                        const bool touched = std::abs(x - 41) <= radius && std::abs(y - 37) <= radius;
                        EXPECT_EQ(std::isnan(result.image.at(x, y)), touched) << x << ", " << y;
                        if (!touched) {
                            EXPECT_LE(contrast_error(result.image.at(x, y), expected.at(x, y), output), 1e-6);
                        }
                    }
                EXPECT_EQ(result.counts.undefined,
                          static_cast<std::uint64_t>((2 * radius + 1) * (2 * radius + 1)));
            }
    }
}

TEST(Speckle, FloatsOfMeanZeroAreUndefined) {
    TestImage<float> image(9, 9);
    for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 9; ++x)
            image.at(x, y) = static_cast<float>((x + y) % 3 - 1); // each 3×3 window sums to 0
    for (const Output output : kOutputs) {
        const HostResult result = run_host(image, with(1, output, Border::crop));
        EXPECT_EQ(result.counts, (PixelCounts{49, 0, 0}));
        EXPECT_TRUE(std::isnan(result.image.at(3, 3)));
    }
}

TEST(Speckle, ValuesWhereTheResultIsUndefined) {
    const auto at_centre = [](std::uint16_t level, Output output) {
        const TestImage<std::uint16_t> flat = TestImage<std::uint16_t>(20, 20).fill([&] { return level; });
        return run_host(flat, with(3, output, Border::replicate)).image.at(10, 10);
    };
    for (const Output output : kOutputs)
        EXPECT_TRUE(std::isnan(at_centre(0, output)));
    EXPECT_EQ(at_centre(700, Output::contrast), 0.0F);
    EXPECT_EQ(at_centre(700, Output::contrast2), 0.0F);
    EXPECT_EQ(at_centre(700, Output::tau), 0.0F);
    EXPECT_EQ(at_centre(700, Output::sfi), std::numeric_limits<float>::infinity());
    EXPECT_EQ(at_centre(700, Output::bfi), std::numeric_limits<float>::infinity());
}

TEST(Speckle, SaturatedWindowsAreCounted) {
    std::mt19937_64 random = test_random(11);
    std::bernoulli_distribution rare(0.002);
    for (const Border border : kBorders)
        for (const int radius : {1, 2, 7}) {
            const auto image = [&]<class T>(TestImage<T> to, int full) {
                return to.fill([&] { return rare(random) ? full : 100 + static_cast<int>(random() % 50); });
            };
            const SpeckleParams params = with(radius, Output::sfi, border);
            FrameInfo twelve;
            twelve.full_scale = 4095;
            expect_oracle(image(TestImage<std::uint16_t>(120, 90, 3), 4095), params, twelve);
            expect_oracle(image(TestImage<std::uint16_t>(120, 90, 3), 65535), params);
            // 4095 of 65535: none saturated
            expect_oracle(image(TestImage<std::uint16_t>(120, 90, 3), 4095), params);
            expect_oracle(image(TestImage<std::uint8_t>(120, 90, 3), 255), params);
            expect_oracle(image(TestImage<float>(120, 90, 3), 4095), params, twelve);
            expect_oracle(image(TestImage<float>(120, 90, 3), 4095), params);
        }
    TestImage<std::uint8_t> one = TestImage<std::uint8_t>(40, 30).fill([] { return 9; });
    one.at(0, 29) = 255;
    EXPECT_EQ(run_host(one, with(3, Output::contrast, Border::replicate)).counts.saturated, 16U);
}

/// The result must not depend on the number of bands.
TEST(Speckle, SamplesAboveTheFullScaleOfTheCamera) { // full scale limits how large sums can become
    std::mt19937_64 random = test_random(12);
    FrameInfo twelve;
    twelve.full_scale = 4095;
    FrameInfo odd;
    odd.full_scale = 100.5;
    for (const int radius : {1, 3, 15}) {
        const SpeckleParams params = with(radius, Output::sfi, Border::reflect);
        TestImage<std::uint16_t> image = speckle_image<std::uint16_t>(1600, 40, 900, 4095, random);
        expect_oracle(image, params, twelve);
        image.at(1590, 38) = 65535; // one band, the second tile
        image.at(3, 37) = 4096;
        expect_oracle(image, params, twelve);
        expect_oracle(image, params, odd);
        expect_oracle(uniform_image<std::uint8_t>(70, 40, 0, 255, random), params, odd);
    }
}

/// Sums of squares in 32 bits are used for full scales up to a limit; on both sides of it, windows of
/// extremes are exact.
TEST(Speckle, AtTheLimitOfNarrowSums) {
    std::mt19937_64 random = test_random(13);
    std::bernoulli_distribution rare(0.01);
    FrameInfo info;
    for (const int radius : {5, 15}) {
        const double samples = std::pow(2.0 * radius + 1, 2);
        const int largest = static_cast<int>(std::sqrt(4294967295.0 / samples)); // distance from the centre
        for (int full = 2 * largest - 2; full <= 2 * largest + 3; ++full)
            for (const bool dark : {true, false}) {
                info.full_scale = full;
                TestImage<std::uint16_t> image(80, 50, 3);
                image.fill([&] { return dark != rare(random) ? 0 : full; });
                expect_oracle(image, with(radius, Output::contrast, Border::reflect), info);
            }
    }
}

TEST(Speckle, AContrastHasNoFullScale) {
    FrameInfo info;
    info.full_scale = 4095;
    find_stage("speckle").make_host(Params(*find_stage("speckle").table))->describe(info);
    EXPECT_EQ(info.full_scale, 0);
}

TEST(Speckle, AFullScaleBeyondThePixelTypeIsClamped) {
    std::mt19937_64 random = test_random(12);
    FrameInfo info;
    for (const double full : {65536.0, 3e6, 4e9})
        for (const int radius : {1, 15}) {
            info.full_scale = full;
            const SpeckleParams params = with(radius, Output::contrast, Border::reflect);
            const auto check = [&](const auto& image) {
                const HostResult result = run_host(image, params, info);
                const OracleResult expected = oracle_speckle(image, params);
                for (int y = 0; y < expected.height; ++y)
                    for (int x = 0; x < expected.width; ++x)
                        ASSERT_NEAR(result.image.at(x, y), expected.at(x, y), 1e-6)
                            << full << ": " << x << ", " << y;
            };
            check(speckle_image<std::uint16_t>(90, 40, 900, 60000, random));
            check(uniform_image<std::uint8_t>(70, 40, 100, 250, random));
        }
}

TEST(Speckle, TheSameWithAnyNumberOfThreads) {
    std::mt19937_64 random = test_random(12);
    const TestImage<std::uint16_t> narrow = speckle_image<std::uint16_t>(300, 400, 900, 4095, random);
    TestImage<std::uint16_t> mixed = narrow; // some bands need wide sums, others do not
    for (int x = 0; x < 300; ++x)
        mixed.at(x, 333) = 65535;
    const TestImage<float> real = uniform_image<float>(300, 400, 0, 1, random);
    const auto expect_same = [](const auto& image, const SpeckleParams& params) {
        std::vector<HostResult> results;
        for (const int threads : {1, 2, 5}) {
            const ThreadLimit limit(threads);
            results.push_back(run_host(image, params));
        }
        for (std::size_t i = 1; i < results.size(); ++i) {
            EXPECT_EQ(results[i].counts, results[0].counts);
            for (int y = 0; y < 400; ++y)
                for (int x = 0; x < 300; ++x)
                    ASSERT_NEAR(results[i].image.at(x, y) / results[0].image.at(x, y), 1, 1e-6)
                        << x << ", " << y;
        }
    };
    for (const int radius : {1, 4}) {
        expect_same(narrow, with(radius, Output::contrast, Border::replicate));
        expect_same(mixed, with(radius, Output::contrast, Border::reflect));
        expect_same(real, with(radius, Output::contrast, Border::zero));
    }
}

TEST(Speckle, EditsWhileRunning) { // output and exposure are free; radius follows prepare
    std::mt19937_64 random = test_random(13);
    const TestImage<std::uint16_t> image = speckle_image<std::uint16_t>(64, 48, 900, 4095, random);
    Params params(*find_stage("speckle").table);
    const std::unique_ptr<HostStage> stage = find_stage("speckle").make_host(params);
    stage->prepare(image.shape());
    const auto worst = [&] {
        TestImage<float> out(64, 48);
        PixelCounts counts;
        const FrameInfo info;
        stage->run(image.view(), out.view(), {info, counts});
        const OracleResult expected = oracle_speckle(image, params.as<SpeckleParams>());
        double error = 0;
        for (int y = 0; y < 48; ++y)
            for (int x = 0; x < 64; ++x)
                error = std::max(error, contrast_error(out.at(x, y), expected.at(x, y),
                                                       params.as<SpeckleParams>().output));
        return error;
    };
    EXPECT_LE(worst(), 1e-6);
    params.set("exposure", 2.5);
    params.set("output", std::string("tau"));
    stage->set_params(params);
    EXPECT_LE(worst(), 1e-6);
    params.set("radius", std::int64_t{9});
    stage->set_params(params);
    stage->prepare(image.shape());
    EXPECT_LE(worst(), 1e-6);
}

TestImage<std::uint8_t> read_grey_tiff(const std::string& path) {
    const std::unique_ptr<TIFF, void (*)(TIFF*)> file(TIFFOpen(path.c_str(), "r"), TIFFClose);
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    TIFFGetField(file.get(), TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(file.get(), TIFFTAG_IMAGELENGTH, &height);
    TestImage<std::uint8_t> image(static_cast<int>(width), static_cast<int>(height));
    for (std::uint32_t y = 0; y < height; ++y)
        EXPECT_EQ(TIFFReadScanline(file.get(), image.view().row(static_cast<int>(y)), y, 0), 1);
    return image;
}

struct RatCortex {
    int radius;
    double mean, median, min, max;
};

TEST(Speckle, ReferenceValuesOfTheRatCortex) {
    const TestImage<std::uint8_t> image = read_grey_tiff(test_data("rat_cortex_1280x1024_mono8.tif"));
    for (const RatCortex& row : {RatCortex{1, 0.082149, 0.079627, 0.007404, 0.361044},
                                 RatCortex{2, 0.088598, 0.088766, 0.015452, 0.298578},
                                 RatCortex{3, 0.090868, 0.092402, 0.020180, 0.274471}}) {
        const TestImage<float> k = run_host(image, with(row.radius, Output::contrast, Border::crop)).image;
        std::vector<double> values;
        double sum = 0;
        for (int y = 0; y < k.shape().height; ++y)
            for (int x = 0; x < k.shape().width; ++x) {
                values.push_back(k.at(x, y));
                sum += k.at(x, y);
            }
        std::sort(values.begin(), values.end());
        const std::size_t half = values.size() / 2;
        const double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
        constexpr double kPrinted = 6e-7; // half of the last printed digit, and float32
        EXPECT_NEAR(sum / static_cast<double>(values.size()), row.mean, kPrinted);
        EXPECT_NEAR(median, row.median, kPrinted);
        EXPECT_NEAR(values.front(), row.min, kPrinted);
        EXPECT_NEAR(values.back(), row.max, kPrinted);
    }
    const TestImage<float> k = run_host(image, with(2, Output::contrast, Border::replicate)).image;
    EXPECT_NEAR(k.at(2, 2), 0.062737574, 1e-7 * 0.0627);
    EXPECT_NEAR(k.at(100, 100), 0.107885454, 1e-7 * 0.1079);
    EXPECT_NEAR(k.at(640, 512), 0.029109499, 1e-7 * 0.0291);
    EXPECT_NEAR(k.at(1277, 1021), 0.103963551, 1e-7 * 0.1040);
}

} // namespace specklescope::test::speckle_test
