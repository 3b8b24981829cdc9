// CLAHE on the host equals OpenCV's byte by byte where OpenCV supports it; and its description bit by bit
// everywhere else, on every processor.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "tests/reference/clahe_reference.hpp"
#include "tests/stages/equalize/clahe_oracle.hpp"
#include "tests/stages/equalize/equalize_cases.hpp"
#include "tests/stages/geometry/geometry_oracle.hpp"
#include "tests/support/instruction_sets.hpp"

#include <string>

namespace specklescope::test::clahe_test {

template <class T>
TestImage<T> run_clahe(const TestImage<T>& image, const ClaheParams& values, double full_scale = 0) {
    Params params(*find_stage("clahe").table);
    params.as<ClaheParams>() = values;
    const std::unique_ptr<HostStage> stage = find_stage("clahe").make_host(params);
    const Shape shape = stage->prepare(image.shape());
    EXPECT_EQ(shape, image.shape());
    TestImage<T> output(shape.width, shape.height, 5, shape.channels);
    const int end = shape.width * shape.channels;
    for (int y = 0; y + 1 < shape.height; ++y) // padding of the output must not change
        for (int x = end; x < end + 5 * shape.channels; ++x)
            output.at(x, y) = T{77};
    PixelCounts counts;
    FrameInfo info;
    info.full_scale = full_scale;
    stage->run(image.view(), output.view(), {info, counts});
    for (int y = 0; y + 1 < shape.height; ++y)
        for (int x = end; x < end + 5 * shape.channels; ++x)
            EXPECT_EQ(output.at(x, y), T{77}) << "written past the end of row " << y;
    return output;
}

template <class T>
void expect_oracle(const TestImage<T>& image, const ClaheParams& params, double full_scale = 0) {
    EXPECT_EQ(differing(run_clahe(image, params, full_scale), oracle_clahe(image, params, full_scale)), 0)
        << to_string(image.shape()) << ", tiles " << params.tiles << ", clip " << params.clip << ", bins "
        << params.bins << ", full scale " << full_scale;
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

class ClaheTargets : public EveryInstructionSet {};

TEST_P(ClaheTargets, MatchesOpenCv) {
    for (const ClaheReference& reference : kClaheReference) {
        TestImage<std::uint8_t> image(reference.width, reference.height, 3);
        std::uint32_t state = 12345;
        for (int y = 0; y < reference.height; ++y)
            for (int x = 0; x < reference.width; ++x) {
                state = 1664525 * state + 1013904223;
                image.at(x, y) =
                    static_cast<std::uint8_t>(std::min(255, 4 * x + 3 * y + static_cast<int>(state >> 26)));
            }
        const TestImage<std::uint8_t> result =
            run_clahe(image, {.tiles = reference.tiles, .clip = reference.clip});
        for (int i = 0; i < reference.width * reference.height; ++i) {
            const std::size_t at = 2 * static_cast<std::size_t>(i);
            ASSERT_EQ(int{result.at(i % reference.width, i / reference.width)},
                      16 * digit(reference.pixels[at]) + digit(reference.pixels[at + 1]))
                << "pixel " << i << " of " << reference.width << "×" << reference.height << ", "
                << reference.tiles << " tiles, clip " << reference.clip;
        }
    }
}

template <class T> void every_shape(double full) {
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {5, 3}, {17, 33}, {64, 48}, {131, 70}, {70, 131}})
        for (const int channels : {1, 3}) {
            const TestImage<T> image = clahe_image<T>(width, height, channels, full, 1);
            for (const int tiles : {1, 2, 5, 8})
                expect_oracle(image, {.tiles = tiles, .clip = 2.5, .bins = 64});
            expect_oracle(image, {.tiles = 3, .clip = 0, .bins = 256});
        }
}

TEST_P(ClaheTargets, EveryTypeChannelCountAndShape) {
    every_shape<std::uint8_t>(255);
    every_shape<std::uint16_t>(65535);
    every_shape<float>(3.5);
}

TEST_P(ClaheTargets, NegativeSamplesOfColourCountAsZero) {
    std::mt19937_64 random = test_random(8);
    const TestImage<float> image = negative_picture(83, 61, random);
    expect_oracle(image, {.tiles = 3});
    const TestImage<float> result = run_clahe(image, {.tiles = 3});
    for (int y = 0; y < 61; ++y)
        for (int x = 0; x < 3 * 83; ++x) {
            ASSERT_GE(result.at(x, y), 0);
            ASSERT_LE(result.at(x, y), 3.9F);
        }
}

INSTANTIATE_TEST_SUITE_P(Every, ClaheTargets, instruction_sets(), instruction_set_name);

TEST(Clahe, EveryParameterAndFullScale) {
    const TestImage<std::uint8_t> u8 = clahe_image<std::uint8_t>(90, 61, 1, 255, 2);
    const TestImage<std::uint16_t> u12 = clahe_image<std::uint16_t>(90, 61, 3, 4095, 3);
    const TestImage<float> f32 = clahe_image<float>(90, 61, 1, 0.01, 4);
    for (const int bins : {2, 3, 100, 256, 4096})
        for (const double clip : {0.0, 0.5, 1.0, 3.0, 100.0}) {
            expect_oracle(u8, {.tiles = 4, .clip = clip, .bins = bins});
            expect_oracle(u8, {.tiles = 4, .clip = clip, .bins = bins}, 100); // samples above full scale
            expect_oracle(u12, {.tiles = 4, .clip = clip, .bins = bins}, 4095);
            expect_oracle(u12, {.tiles = 4, .clip = clip, .bins = bins}, 999);
            expect_oracle(f32, {.tiles = 4, .clip = clip, .bins = bins});
        }
    expect_oracle(u8, {.tiles = 64, .clip = 2, .bins = 256});
    expect_oracle(u12, {.tiles = 64, .clip = 2, .bins = 4096}, 4095);
}

TEST(Clahe, ThreadsDoNotChangeTheResult) {
    const TestImage<float> image = clahe_image<float>(150, 110, 3, 2000, 5);
    for (const int tiles : {1, 8}) {
        const ThreadLimit one(1);
        const TestImage<float> alone = run_clahe(image, {.tiles = tiles});
        const ThreadLimit four(4);
        EXPECT_EQ(differing(run_clahe(image, {.tiles = tiles}), alone), 0);
    }
}

TEST(Clahe, ConstantFramesOfFloatStay) {
    for (const float level : {0.0F, 1.1F, -3e38F, 3e38F}) {
        TestImage<float> image(40, 30, 3);
        image.fill([&] { return level; });
        const TestImage<float> result = run_clahe(image, {});
        for (int y = 0; y < 30; ++y)
            for (int x = 0; x < 40; ++x) // the weights of four equal levels add up to 1 within rounding
                ASSERT_NEAR(result.at(x, y), level, 1e-6F * std::abs(level));
    }
}

TEST(Clahe, NonFinitePixelsStayAndAffectNoOthers) {
    for (const int channels : {1, 3}) {
        TestImage<float> image = clahe_image<float>(80, 60, channels, 5, 6);
        image.at(7 * channels, 9) = std::numeric_limits<float>::quiet_NaN();
        image.at(20 * channels, 30) = std::numeric_limits<float>::infinity();
        image.at(79 * channels, 59) = -std::numeric_limits<float>::infinity();
        expect_oracle(image, {.tiles = 4});
        const TestImage<float> result = run_clahe(image, {.tiles = 4});
        EXPECT_TRUE(std::isnan(result.at(7 * channels, 9)));
        EXPECT_EQ(result.at(20 * channels, 30), std::numeric_limits<float>::infinity());
        int wrong = 0;
        for (int y = 0; y < 60; ++y)
            for (int x = 0; x < 80 * channels; ++x)
                wrong += std::isfinite(image.at(x, y)) && !std::isfinite(result.at(x, y)) ? 1 : 0;
        EXPECT_EQ(wrong, 0);
        image.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
        const TestImage<float> nothing = run_clahe(image, {});
        EXPECT_TRUE(std::isnan(nothing.at(0, 0)));
    }
    TestImage<float> whole(8, 8); // a range beyond f32
    int i = 0;
    whole.fill([&] { return i++ % 2 == 0 ? 3e38F : -3e38F; });
    const TestImage<float> result = run_clahe(whole, {});
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
            EXPECT_TRUE(std::isfinite(result.at(x, y)));
}

TEST(Clahe, KeepsHueAndSaturation) {
    const TestImage<std::uint16_t> image = clahe_image<std::uint16_t>(60, 50, 3, 65535, 7);
    const TestImage<std::uint16_t> result = run_clahe(image, {.tiles = 2});
    for (int y = 0; y < 50; ++y)
        for (int x = 0; x < 60; ++x) {
            double before = 0;
            double after = 0;
            for (int c = 0; c < 3; ++c) {
                before = std::max(before, static_cast<double>(image.at(3 * x + c, y)));
                after = std::max(after, static_cast<double>(result.at(3 * x + c, y)));
            }
            for (int c = 0; before > 0 && c < 3; ++c)
                ASSERT_LE(std::abs(image.at(3 * x + c, y) * after / before - result.at(3 * x + c, y)), 0.5);
        }
}

TEST(Clahe, ClipIsFree) {
    const TestImage<std::uint8_t> image = clahe_image<std::uint8_t>(64, 64, 1, 255, 8);
    Params params(*find_stage("clahe").table);
    const std::unique_ptr<HostStage> stage = find_stage("clahe").make_host(params);
    stage->prepare(image.shape());
    params.set("clip", 7.0);
    EXPECT_EQ(find_stage("clahe").table->at("clip").cost, Cost::free);
    stage->set_params(params);
    TestImage<std::uint8_t> output(64, 64);
    PixelCounts counts;
    stage->run(image.view(), output.view(), {FrameInfo{}, counts});
    EXPECT_EQ(differing(output, run_clahe(image, {.clip = 7})), 0);
}

TEST(Clahe, RefusesTilesWithTooManyPixels) {
    const Shape largest{kMaxSide, kMaxSide, 1, PixelType::u8};
    EXPECT_THROW(clahe_tiling({.tiles = 1}, largest), UsageError);
    EXPECT_EQ(clahe_tiling({.tiles = 2}, largest).area(), 1 << 30);
    EXPECT_THROW(clahe_tiling({.tiles = 1}, {46341, 46341, 1, PixelType::u8}), UsageError);
    EXPECT_EQ(clahe_tiling({.tiles = 1}, {46340, 46340, 1, PixelType::u8}).area(), 46340 * 46340);
}

TEST(Clahe, RefusesParametersOutOfRange) {
    Params params(*find_stage("clahe").table);
    EXPECT_THROW(params.set("tiles", std::int64_t{0}), UsageError);
    EXPECT_THROW(params.set("tiles", std::int64_t{65}), UsageError);
    EXPECT_THROW(params.set("bins", std::int64_t{1}), UsageError);
    EXPECT_THROW(params.set("bins", std::int64_t{4097}), UsageError);
    EXPECT_THROW(params.set("clip", -1.0), UsageError);
}

} // namespace specklescope::test::clahe_test
