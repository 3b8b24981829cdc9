// Speckle contrast on the host is what science.md's formulas say, to 1e-6 of K, everywhere and on every
// processor.
#include "oracle.hpp"
#include "pipeline/parallel.hpp"
#include "reference/speckle_reference.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <tiffio.h>

#include <filesystem>
#include <functional>
#include <string>

namespace specklescope::test {
namespace {

using Border = SpeckleParams::Border;
using Output = SpeckleParams::Output;
constexpr Border kBorders[] = {Border::replicate, Border::reflect, Border::crop, Border::zero};
constexpr Output kOutputs[] = {Output::sfi, Output::contrast, Output::contrast2, Output::tau, Output::bfi};

struct HostResult {
    TestImage<float> image;
    PixelCounts counts;
};

template <class T>
HostResult run_host(const TestImage<T>& image, const SpeckleParams& values, const FrameInfo& info = {}) {
    Params params(speckle_table());
    params.as<SpeckleParams>() = values;
    const std::unique_ptr<HostStage> stage = make_speckle_host(params);
    const Shape shape = stage->prepare(image.shape());
    HostResult result{TestImage<float>(shape.width, shape.height, 5), {}};
    constexpr float kUntouched = -77;
    for (int y = 0; y + 1 < shape.height; ++y) // what lies between the rows of the output is nobody's
        for (int x = shape.width; x < shape.width + 5; ++x)
            result.image.at(x, y) = kUntouched;
    stage->run(image.view(), result.image.view(), {info, result.counts});
    for (int y = 0; y + 1 < shape.height; ++y)
        for (int x = shape.width; x < shape.width + 5; ++x)
            EXPECT_EQ(result.image.at(x, y), kUntouched) << "written past the end of row " << y;
    return result;
}

/// The largest error of K against the oracle must be within 1e-6, and the counts equal.
template <class T> void expect_result(const TestImage<T>& image, const SpeckleParams& params,
                                      const FrameInfo& info, const OracleResult& expected) {
    const HostResult result = run_host(image, params, info);
    ASSERT_EQ(result.image.shape().width, expected.width);
    ASSERT_EQ(result.image.shape().height, expected.height);
    double worst = 0;
    int worst_x = 0;
    int worst_y = 0;
    for (int y = 0; y < expected.height; ++y)
        for (int x = 0; x < expected.width; ++x) {
            const double error = contrast_error(result.image.at(x, y), expected.at(x, y), params.output);
            if (error > worst) {
                worst = error;
                worst_x = x;
                worst_y = y;
            }
        }
    EXPECT_LE(worst, 1e-6) << "at column " << worst_x << ", row " << worst_y << ": "
                           << result.image.at(worst_x, worst_y) << ", expected "
                           << expected.at(worst_x, worst_y) << "; " << to_string(image.shape()) << ", radius "
                           << params.radius << ", output " << static_cast<int>(params.output) << ", border "
                           << static_cast<int>(params.border);
    EXPECT_EQ(result.counts.undefined, expected.counts.undefined);
    EXPECT_EQ(result.counts.infinite, expected.counts.infinite);
    EXPECT_EQ(result.counts.saturated, expected.counts.saturated)
        << to_string(image.shape()) << ", radius " << params.radius;
}

template <class T>
void expect_oracle(const TestImage<T>& image, const SpeckleParams& params, const FrameInfo& info = {}) {
    expect_result(image, params, info, oracle_speckle(image, params, info));
}

template <class T>
void expect_every_output(const TestImage<T>& image, SpeckleParams params, const FrameInfo& info = {}) {
    const std::vector<OracleWindow> windows = oracle_windows(image, params, info);
    for (const Output output : kOutputs) {
        params.output = output;
        expect_result(image, params, info, oracle_result(windows, image.shape(), params, info));
    }
}

SpeckleParams with(int radius, Output output, Border border) { return {radius, 10, output, border}; }

std::string test_data() {
    const char* given = std::getenv("SPECKLESCOPE_TEST_DATA");
    return given ? given : SPECKLESCOPE_SOURCE_DIR "/../shared/data";
}

/// Every instruction set that was compiled and that this processor has.
class SpeckleTargets : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override {
        hwy::SetSupportedTargetsForTest(GetParam());
        hwy::GetChosenTarget().Update(GetParam());
    }
    void TearDown() override {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

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

TEST_P(SpeckleTargets, UndefinedPixelsBesideOthers) { // a black half, a flat half, speckle between
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

std::string target_name(const testing::TestParamInfo<std::int64_t>& target) {
    return hwy::TargetName(target.param);
}
INSTANTIATE_TEST_SUITE_P(Processor, SpeckleTargets, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

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
    Params params(speckle_table());
    params.set("radius", std::int64_t{9});
    EXPECT_THROW(make_speckle_host(params)->prepare({20, 8, 1, PixelType::u8}), UsageError);
    EXPECT_EQ(make_speckle_host(params)->prepare({20, 9, 1, PixelType::u8}),
              (Shape{20, 9, 1, PixelType::f32}));
    params.set("border", std::string("crop"));
    EXPECT_THROW(make_speckle_host(params)->prepare({20, 18, 1, PixelType::u8}), UsageError);
    EXPECT_EQ(make_speckle_host(params)->prepare({20, 19, 1, PixelType::u8}),
              (Shape{2, 1, 1, PixelType::f32}));
}

TEST(Speckle, AgreesWithScipy) {
    std::uint32_t state = 12345;
    const TestImage<std::uint16_t> image =
        TestImage<std::uint16_t>(kReferenceWidth, kReferenceHeight).fill([&] {
            state = 1664525U * state + 1013904223U;
            return state >> 16;
        });
    for (const SpeckleReference& reference : kSpeckleReference) {
        Params params(speckle_table());
        params.set("radius", std::int64_t{reference.radius});
        params.set("output", std::string("contrast2"));
        params.set("border", std::string(reference.border));
        const HostResult result = run_host(image, params.as<SpeckleParams>());
        EXPECT_NEAR(result.image.at(reference.x, reference.y) / reference.contrast2, 1, 1e-6)
            << reference.border << ", radius " << reference.radius << ", at " << reference.x << ", "
            << reference.y;
    }
}

TEST(Speckle, HighDynamicRange) { // neighbouring windows of 1e-3 and of 1e6 do not disturb each other
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
        expect_oracle(image, with(radius, Output::contrast, Border::replicate));
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
            expect_oracle(image(TestImage<std::uint16_t>(120, 90, 3), 4095), params); // 4095 of 65535: none
            expect_oracle(image(TestImage<std::uint8_t>(120, 90, 3), 255), params);
            expect_oracle(image(TestImage<float>(120, 90, 3), 4095), params, twelve);
            expect_oracle(image(TestImage<float>(120, 90, 3), 4095), params);
        }
    TestImage<std::uint8_t> one = TestImage<std::uint8_t>(40, 30).fill([] { return 9; });
    one.at(0, 29) = 255;
    EXPECT_EQ(run_host(one, with(3, Output::contrast, Border::replicate)).counts.saturated, 16U);
}

/// Bands are of any height: the result must not depend on how many there are.
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
    Params params(speckle_table());
    const std::unique_ptr<HostStage> stage = make_speckle_host(params);
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
    const std::string path = test_data() + "/rat_cortex_1280x1024_mono8.tif";
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "no " << path << "; set SPECKLESCOPE_TEST_DATA to the folder of test images";
    const TestImage<std::uint8_t> image = read_grey_tiff(path);
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
        constexpr double kPrinted = 6e-7; // half of the last digit printed, and float32
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

} // namespace
} // namespace specklescope::test
