// Histogram equalisation on the host matches its definition exactly, and OpenCV and scikit-image on the same
// image.
#include "base/parallel.hpp"
#include "stages/equalize/equalize.hpp"
#include "stages/equalize/simd/equalize_rows.hpp"
#include "tests/reference/equalize_reference.hpp"
#include "tests/stages/equalize/equalize_run.hpp"
#include "tests/support/instruction_sets.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <bit>

namespace specklescope::test::equalize_test {

using Scaling = EqualizeParams::Scaling;

template <class T> class Equalize : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Equalize, PixelTypes);

TYPED_TEST(Equalize, MatchesItsDefinitionForEveryBinCountScalingStrengthAndShape) {
    std::mt19937_64 random = test_random(1);
    for (const EqualizeCase& c : equalize_cases(equalize_full_scales<TypeParam>())) {
        const double full =
            c.full_scale > 0 ? 1.1 * c.full_scale : type_full_scale(pixel_type_of<TypeParam>());
        const auto image =
            equalize_picture<TypeParam>(c.width, c.height, c.channels, full > 0 ? full : 17.5, random);
        const auto expected = oracle_equalize(image, c.params, c.full_scale);
        const double ulps = std::is_integral_v<TypeParam> ? 0 : 4;
        ASSERT_EQ(differences(run_host(image, c.params, c.full_scale), expected, ulps), 0)
            << to_string(c) << ", seed " << test_seed();
    }
}

TYPED_TEST(Equalize, IsIdempotentWithABinPerLevel) {
    if constexpr (std::is_integral_v<TypeParam>) {
        std::mt19937_64 random = test_random(2);
        for (const int channels : {1, 3})
            for (const double full : {200.0, 0.0}) {
                const auto image =
                    equalize_picture<TypeParam>(101, 53, channels, full > 0 ? full : 255, random);
                const EqualizeParams params{.bins = 65536};
                const auto once = run_host(image, params, full);
                EXPECT_GT(differences(once, image), 1000);
                EXPECT_EQ(differences(run_host(once, params, full), once), 0);
            }
    }
}

TYPED_TEST(Equalize, AFrameOfOneValueStaysUnchanged) {
    for (const double level : {0.0, 1.0, 77.0, 255.0})
        for (const auto scaling : {Scaling::maxabs, Scaling::minmax})
            for (const int channels : {1, 3}) {
                TestImage<TypeParam> image(19, 7, 1, channels);
                int i = 0; // colours of the same V
                image.fill([&] { return i++ % channels == 0 ? level : level / 2; });
                EXPECT_EQ(differences(run_host(image, {.scaling = scaling}), image), 0) << level;
                EXPECT_EQ(differences(run_host(image, {.bins = 2, .scaling = scaling}), image), 0) << level;
            }
}

TYPED_TEST(Equalize, DoesNotDependOnTheNumberOfThreads) {
    std::mt19937_64 random = test_random(3);
    const auto image = equalize_picture<TypeParam>(97, 311, 3, 255, random);
    const ThreadLimit limit(1);
    const auto alone = run_host(image, {.bins = 300});
    const ThreadLimit more(0);
    EXPECT_EQ(differences(run_host(image, {.bins = 300}), alone), 0);
}

TYPED_TEST(Equalize, TheWholeRangeIsUsed) { // minmax: darkest to 0, brightest to full scale, evenly between
    std::mt19937_64 random = test_random(4);
    const auto image = equalize_picture<TypeParam>(200, 200, 1, 100, random);
    const auto result = run_host(image, {.scaling = Scaling::minmax});
    TypeParam low = result.at(0, 0);
    TypeParam high = low;
    for_pixels(image.shape(), [&](int x, int y) {
        low = std::min(low, result.at(x, y));
        high = std::max(high, result.at(x, y));
    });
    EXPECT_EQ(low, 0);
    const double top = type_full_scale(pixel_type_of<TypeParam>());
    if (top > 0) {
        EXPECT_EQ(static_cast<double>(high), top);
    }
}

// --- the arithmetic, exhaustively ---

TEST(EqualizeMap, EveryByteIsScaledExactly) {
    for (std::uint32_t new_v = 0; new_v < 256; ++new_v)
        for (std::uint32_t v = 0; v < 256; ++v) {
            const float ratio = byte_ratio(new_v, v);
            const float offset = v == 0 ? kByteGrid + static_cast<float>(new_v) : byte_offset(ratio);
            for (std::uint32_t channel = 0; channel <= v; ++channel) {
                const std::uint64_t expected = v == 0 ? new_v : round_even(channel * new_v, v);
                const float scaled = scaled_byte(kByteBase + static_cast<float>(channel), ratio, offset);
                ASSERT_EQ(std::bit_cast<std::uint32_t>(scaled) & 255U, expected)
                    << channel << "·" << new_v << "/" << v;
                ASSERT_EQ(scaled_channel(channel, new_v, v), expected);
            }
        }
}

class EqualizeTargets : public EveryInstructionSet {};

TEST_P(EqualizeTargets, EveryByteIsScaledExactly) {
    std::vector<std::uint8_t> rgb; // every R ≤ V
    for (unsigned v = 0; v < 256; ++v)
        for (unsigned channel = 0; channel <= v; ++channel)
            for (const unsigned sample : {channel, v, v - channel})
                rgb.push_back(static_cast<std::uint8_t>(sample));
    std::vector<std::uint8_t> out(rgb.size());
    for (unsigned new_v = 0; new_v < 256; ++new_v) {
        std::array<std::uint8_t, 256> levels{};
        levels.fill(static_cast<std::uint8_t>(new_v));
        scale_row(rgb.data(), rgb.size() / 3, byte_factors(levels), out.data());
        for (std::size_t i = 0; i < rgb.size(); ++i) {
            const unsigned v = rgb[i / 3 * 3 + 1];
            ASSERT_EQ(out[i], v == 0 ? new_v : round_even(rgb[i] * new_v, v)) << +rgb[i] << " " << v;
        }
    }
}

TEST_P(EqualizeTargets, EveryWidthHasItsTail) {
    std::mt19937_64 random = test_random(7);
    for (int width = 1; width < 140; ++width) {
        const auto image = equalize_picture<std::uint8_t>(width, 2, 3, 255, random);
        ASSERT_EQ(differences(run_host(image, {}), oracle_equalize(image, EqualizeParams{}, 0)), 0) << width;
    }
    const auto image = equalize_picture<std::uint8_t>(1100, 2, 3, 255, random);
    ASSERT_EQ(differences(run_host(image, {}), oracle_equalize(image, EqualizeParams{}, 0)), 0);
    for (int width = 1; width < 600; width += width < 20 ? 1 : 97)
        for (const double full : {65535.0, 900.0, 13.0}) {
            const auto words =
                equalize_picture<std::uint16_t>(width, 3, 3, std::min(65535.0, 1.2 * full), random);
            ASSERT_EQ(differences(run_host(words, {}, full), oracle_equalize(words, EqualizeParams{}, full)),
                      0)
                << width << ", full scale " << full;
        }
}

TEST_P(EqualizeTargets, EveryByteIsLookedUp) {
    std::mt19937_64 random = test_random(8);
    for (int width = 1; width < 300; width += width < 70 ? 1 : 37) {
        TestImage<std::uint8_t> in(width, 9, 3);
        in.fill([&, next = 0]() mutable { return next++ & 255; });
        TestImage<std::uint8_t> out(width, 9, 5);
        ByteLevels levels{};
        for (std::uint8_t& level : levels)
            level = static_cast<std::uint8_t>(random());
        map_rows(ConstHostView(in.view()).as<std::uint8_t>(), levels, out.view().as<std::uint8_t>(), {1, 8});
        for (int y = 0; y < 9; ++y)
            for (int x = 0; x < width; ++x)
                ASSERT_EQ(out.at(x, y), y == 0 || y == 8 ? 0 : levels[in.at(x, y)]) << width << ", " << x;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EqualizeTargets, testing::ValuesIn([] {
                             std::vector<std::int64_t> targets;
                             for (std::int64_t bits = hwy::SupportedTargets(); bits != 0; bits &= bits - 1)
                                 targets.push_back(bits & -bits);
                             return targets;
                         }()),
                         instruction_set_name);

TEST(EqualizeMap, EveryLevelIsInItsBin) {
    for (const double full : {1.0, 2.0, 200.0, 1023.0, 4095.0, 40000.0, 65534.0, 65535.0})
        for (const int bins : {2, 3, 7, 256, 257, 1000, 4095, 4096, 4097, 65535, 65536}) {
            const LevelBins b = level_bins(bins, PixelType::u16, full);
            ASSERT_LE(b.bins, static_cast<std::uint32_t>(full) + 1);
            const std::uint64_t used = b.bins;
            for (std::uint32_t level = 0; level < 65536; ++level) {
                const auto inside = std::min<std::uint64_t>(level, static_cast<std::uint64_t>(full));
                ASSERT_EQ(bin_of(b, level), inside * used / (static_cast<std::uint64_t>(full) + 1));
            }
        }
}

TEST(EqualizeMap, LevelsAreRoundedExactly) {
    std::mt19937_64 random = test_random(8);
    for (int i = 0; i < 1'000'000; ++i) {
        const auto span =
            static_cast<std::uint32_t>((random() >> 32 >> random() % 32) | 1) + (i % 2 ? 1U : 0);
        const auto count = static_cast<std::uint32_t>(random() % (std::uint64_t{span} + 1));
        const auto full = static_cast<std::uint32_t>(1 + random() % 65535);
        if (span == 0)
            continue;
        ASSERT_EQ(equalized_level({0, span}, count, full), round_even(std::uint64_t{count} * full, span))
            << count << "·" << full << "/" << span;
        const auto level = static_cast<std::uint32_t>(random() % 65536);
        const auto weight = static_cast<std::uint32_t>(random() % 65537);
        ASSERT_EQ(mixed_level(level, full, weight),
                  round_even(std::uint64_t{level} * (65536 - weight) + std::uint64_t{full} * weight, 65536));
        const std::uint32_t v = full;
        const auto channel = static_cast<std::uint32_t>(random() % (v + 1));
        ASSERT_EQ(scaled_channel(channel, level, v), round_even(std::uint64_t{channel} * level, v));
    }
}

// --- non-finite f32, and limits ---

TEST(EqualizeReal, NonFinitePixelsStayAndDoNotCount) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::mt19937_64 random = test_random(9);
    for (const int channels : {1, 3})
        for (const float hole : {std::nanf(""), kInfinity, -kInfinity}) {
            auto image = equalize_picture<float>(40, 20, channels, 100, random);
            for (int x = 0; x < 40; x += 3)
                image.at(channels * x + x % channels, x % 20) = hole;
            const auto result = run_host(image, {.bins = 64});
            EXPECT_EQ(differences(result, oracle_equalize(image, {.bins = 64}), 4), 0);
            for (int x = 0; x < 40; x += 3)
                for (int c = 0; c < channels; ++c)
                    EXPECT_EQ(std::bit_cast<std::uint32_t>(result.at(channels * x + c, x % 20)),
                              std::bit_cast<std::uint32_t>(image.at(channels * x + c, x % 20)));
            image.fill([&] { return hole; });
            EXPECT_EQ(differences(run_host(image, {}), image), 0);
        }
}

TEST(EqualizeReal, NegativeHugeAndTinyRanges) {
    std::mt19937_64 random = test_random(10);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const auto& range : {std::pair{-5.0, 12.0},
                              {-9.0, -1.0},
                              {-3.4e38, 3.4e38},
                              {0.0, 3.4e38},
                              {1e-30, 2e-30},
                              {1e6, 1e6 + 1},
                              {-1e-3, 0.0},
                              {1e-45, 1e-44}})
        for (const int channels : {1, 3})
            for (const int bins : {2, 256, 65536}) {
                const double low = range.first;
                const double high = range.second;
                TestImage<float> image(50, 30, 1, channels);
                image.fill([&] { return low + (high - low) * unit(random); });
                const EqualizeParams params{.bins = bins, .scaling = Scaling::minmax};
                const auto result = run_host(image, params);
                if (channels == 1) {
                    EXPECT_EQ(differences(result, oracle_equalize(image, params), 2), 0)
                        << low << " " << high;
                }
                for_pixels(image.shape(), [&](int x, int y) {
                    for (int c = 0; c < channels; ++c)
                        ASSERT_FALSE(std::isnan(result.at(channels * x + c, y))) << low << " " << high;
                });
            }
}

// --- references ---

TestImage<std::uint8_t> reference_picture() {
    std::uint32_t state = 12345;
    return TestImage<std::uint8_t>(kEqualizeWidth, kEqualizeHeight, 0, 3).fill([&] {
        state = 1664525 * state + 1013904223;
        return (state >> 24) * (state >> 24) / 256;
    });
}

TestImage<std::uint8_t> reference_grey() {
    const auto rgb = reference_picture();
    TestImage<std::uint8_t> grey(kEqualizeWidth, kEqualizeHeight);
    for_pixels(grey.shape(), [&](int x, int y) { grey.at(x, y) = rgb.at(3 * x, y); });
    return grey;
}

template <std::size_t N>
void expect_reference(const TestImage<std::uint8_t>& result, const std::array<std::uint8_t, N>& expected) {
    const auto row = static_cast<std::size_t>(result.shape().width * result.shape().channels);
    for (std::size_t i = 0; i < N; ++i)
        ASSERT_EQ(result.at(static_cast<int>(i % row), static_cast<int>(i / row)), expected[i]) << i;
}

TEST(EqualizeReference, OpenCvIsMinmax) {
    expect_reference(run_host(reference_grey(), {.bins = 256, .scaling = Scaling::minmax}), kGreyMinmax);
}

TEST(EqualizeReference, ScikitImageIsMaxabs) {
    expect_reference(run_host(reference_grey(), {.bins = 256}), kGreyMaxabs);
}

TEST(EqualizeReference, ColourIsHsvThereAndBack) {
    expect_reference(run_host(reference_picture(), {.scaling = Scaling::minmax}), kColourMinmax);
    expect_reference(run_host(reference_picture(), {}), kColourMaxabs);
}

TEST(EqualizeReference, ScikitImageInterpolatesBetweenBinsOfFloats) {
    const auto grey = reference_grey();
    TestImage<float> real(kEqualizeWidth, kEqualizeHeight);
    std::map<int, int> counts;
    float high = 0;
    for_pixels(real.shape(), [&](int x, int y) {
        const float root = static_cast<float>(grey.at(x, y)) / 256;
        real.at(x, y) = root * root;
        high = std::max(high, real.at(x, y));
    });
    for_pixels(real.shape(), [&](int x, int y) { ++counts[static_cast<int>(real.at(x, y) * 64 / high)]; });
    int most = 0;
    for (const auto& [bin, count] : counts)
        most = std::max(most, count);
    const auto result = run_host(real, {.bins = 64});
    for_pixels(real.shape(), [&](int x, int y) {
        const double expected = kRealMaxabs64[static_cast<std::size_t>(y * kEqualizeWidth + x)];
        ASSERT_LE(std::abs(static_cast<double>(result.at(x, y)) / static_cast<double>(high) - expected),
                  static_cast<double>(most) / (kEqualizeWidth * kEqualizeHeight))
            << x << ", " << y;
    });
}

// --- the stage ---

TEST(EqualizeStage, RefusesValuesOutOfRange) {
    Params params(*find_stage("equalize").table);
    EXPECT_THROW(params.set("bins", std::int64_t{1}), UsageError);
    EXPECT_THROW(params.set("bins", std::int64_t{65537}), UsageError);
    EXPECT_THROW(params.set("strength", 1.5), UsageError);
    EXPECT_THROW(params.set_text("scaling", "mean"), UsageError);
    EXPECT_THROW(find_stage("equalize").make_host(params)->prepare({65536, 65536, 1, PixelType::u8}),
                 UsageError);
    EXPECT_EQ(find_stage("equalize").quantity(params, {}).name, "equalised intensity");
    const Quantity flow{"speckle flow index", "SFI", "1/s"};
    const Quantity once = find_stage("equalize").quantity(params, flow);
    EXPECT_EQ(once.symbol, "SFI eq.") << "ranks are no flow any more";
    EXPECT_EQ(once.unit, "a.u.");
    const Quantity twice = find_stage("clahe").quantity(Params(*find_stage("clahe").table), once);
    EXPECT_EQ(twice.symbol, once.symbol);
    EXPECT_EQ(twice.name, once.name);
    params.set("strength", 0.0);
    EXPECT_EQ(find_stage("equalize").quantity(params, {}).name, "intensity");
}

TEST(EqualizeStage, ReportsWhenBinsAreLevels) {
    Params params(*find_stage("equalize").table);
    const auto stage = find_stage("equalize").make_host(params);
    stage->prepare({10, 10, 1, PixelType::u8});
    EXPECT_EQ(stage->note(), "a bin for each level");
    stage->prepare({10, 10, 1, PixelType::f32});
    EXPECT_EQ(stage->note(), "");
}

TEST(EqualizeStage, FreeParametersTakeEffectImmediately) {
    std::mt19937_64 random = test_random(11);
    const auto image = equalize_picture<std::uint16_t>(40, 30, 1, 4095, random);
    Params params(*find_stage("equalize").table);
    const auto stage = find_stage("equalize").make_host(params);
    stage->prepare(image.shape());
    TestImage<std::uint16_t> result(40, 30);
    PixelCounts counts;
    for (const double full_scale : {4095.0, 0.0, 50.0, 4095.0}) // the camera's full scale may change
        for (const double strength : {1.0, 0.25}) {
            params.set("strength", strength);
            params.set_text("scaling", "minmax");
            stage->set_params(params);
            FrameInfo info;
            info.full_scale = full_scale;
            stage->run(image.view(), result.view(), {info, counts});
            EXPECT_EQ(differences(result, oracle_equalize(image, params.as<EqualizeParams>(), full_scale)),
                      0);
            stage->describe(info);
            EXPECT_EQ(info.full_scale, full_scale);
            EXPECT_EQ(stage->note(), "");
        }
}

} // namespace specklescope::test::equalize_test
