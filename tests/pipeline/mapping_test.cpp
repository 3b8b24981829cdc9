// Colours: the tables match published ones, the rule matches mapping.hpp, ranges ignore NaN and ∞.
#include "pipeline/mapping.hpp"
#include "tests/reference/color_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mapping_test {

using namespace specklescope;

std::string hex(const std::array<Rgb, 256>& table) {
    std::string text;
    for (const Rgb& color : table)
        for (const std::uint8_t sample : color) {
            text += "0123456789abcdef"[sample / 16];
            text += "0123456789abcdef"[sample % 16];
        }
    return text;
}

TEST(ColorTable, MatchesThePublishedMap) {
    for (const auto& [map, reference] : {std::pair{ColorMap::viridis, kViridisReference},
                                         {ColorMap::inferno, kInfernoReference},
                                         {ColorMap::magma, kMagmaReference},
                                         {ColorMap::turbo, kTurboReference},
                                         {ColorMap::jet, kJetReference},
                                         {ColorMap::rdbu, kRdbuReference}})
        EXPECT_EQ(hex(color_table(map)), reference) << static_cast<int>(map);
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_EQ(
            color_table(ColorMap::grey)[i],
            (Rgb{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)}));
}

TEST(ColorTable, NoMapContainsTheColoursOfUndefinedAndInfinite) {
    for (int map = 0; map < 7; ++map)
        for (const Rgb& color : color_table(static_cast<ColorMap>(map))) {
            int apart = 0;
            for (std::size_t c = 0; c < 3; ++c)
                apart += std::abs(color[c] - kInfiniteColor[c]);
            EXPECT_GT(apart, 100) << map;
        }
}

TEST(ColorTable, ChangesInSmallSteps) {
    for (int map = 0; map < 7; ++map)
        for (std::size_t i = 1; i < 256; ++i)
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_LE(std::abs(color_table(static_cast<ColorMap>(map))[i][c] -
                                   color_table(static_cast<ColorMap>(map))[i - 1][c]),
                          8)
                    << map << " " << i;
}

Rgb mapped(float value, ValueRange range, ColorMap map = ColorMap::turbo,
           ToneCurve curve = ToneCurve::linear) {
    std::array<std::byte, 3> out{};
    float pixel = value;
    map_colors(ConstHostView(reinterpret_cast<const std::byte*>(&pixel), {1, 1, 1, PixelType::f32}), map,
               range, curve, HostView(out.data(), {1, 1, 3, PixelType::u8}));
    return {std::to_integer<std::uint8_t>(out[0]), std::to_integer<std::uint8_t>(out[1]),
            std::to_integer<std::uint8_t>(out[2])};
}

TEST(MapColors, FollowsTheRule) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const auto& turbo = color_table(ColorMap::turbo);
    const ValueRange range{-3, 5}; // 8/256 per colour: exact in binary
    for (int i = 0; i < 256; ++i) {
        const float start = -3 + static_cast<float>(i) / 32;
        EXPECT_EQ(mapped(start, range), turbo[static_cast<std::size_t>(i)]);
        // The largest number below the next colour; with low = 0 the subtraction is exact.
        const float last = std::nextafter(static_cast<float>(i + 1) / 32, -kInf);
        EXPECT_EQ(mapped(last, {0, 8}), turbo[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(mapped(5, range), turbo[255]);
    EXPECT_EQ(mapped(1e30F, range), turbo[255]);
    EXPECT_EQ(mapped(-1e30F, range), turbo[0]);
    EXPECT_EQ(mapped(kInf, range), kInfiniteColor);
    EXPECT_EQ(mapped(-kInf, range), kInfiniteColor);
    EXPECT_EQ(mapped(std::numeric_limits<float>::quiet_NaN(), range), kUndefinedColor);
    EXPECT_EQ(mapped(-1, {2, 2}), turbo[0]); // an empty range is a threshold
    EXPECT_EQ(mapped(3, {2, 2}), turbo[255]);
}

TEST(MapColors, AgreesWithDoubleArithmetic) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-1000, 5000);
    for (int trial = 0; trial < 20000; ++trial) {
        const double low = number(random), high = low + 1 + std::abs(number(random));
        const auto value = static_cast<float>(number(random));
        const double exact = (value - low) / (high - low) * 256;
        const Rgb color = mapped(value, {low, high}, ColorMap::grey);
        // Single precision, of the colours and of the start of the range, may round to the other side of a
        // border.
        const double blur = 1e-3 + std::abs(low) * 0x1p-23 / (high - low) * 256;
        EXPECT_NEAR(color[0] + 0.5, std::clamp(exact, 0.0, 255.999), 0.5 + blur)
            << value << " " << low << " " << high;
    }
}

TEST(MapColors, ExposureIsAGainBeforeTheRange) {
    EXPECT_EQ(exposed({-3, 5}, 0).low, -3);
    EXPECT_EQ(exposed({-3, 5}, 0).high, 5);
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-1000, 5000);
    for (int stops = -10; stops <= 10; ++stops) // whole stops only change the exponent: the same bits
        for (int trial = 0; trial < 300; ++trial) {
            const float value = number(random);
            const ValueRange range{number(random), 6000};
            const float gained = std::ldexp(value, stops);
            EXPECT_EQ(mapped(value, exposed(range, stops)), mapped(gained, range)) << value << " " << stops;
        }
    for (const double stops : {-9.5, -0.5, 0.3, 3.7}) // fractions of a stop: within one colour
        for (int trial = 0; trial < 300; ++trial) {
            const double value = number(random);
            const double wanted = std::clamp(value * std::exp2(stops) / 4000 * 256, 0.0, 255.999);
            const Rgb seen = mapped(static_cast<float>(value), exposed({0, 4000}, stops), ColorMap::grey);
            EXPECT_NEAR(seen[0] + 0.5, wanted, 0.5 + 1e-3) << value << " " << stops;
        }
}

// The reference is each curve's definition in float64, written separately.
TEST(MapColors, CurvesEncodeLightForTheDisplay) {
    const auto encoded = [](double v) {
        return v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
    };
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> stops(-12, 6);
    for (const ToneCurve curve : {ToneCurve::srgb, ToneCurve::reinhard, ToneCurve::filmic})
        for (int trial = 0; trial < 20000; ++trial) {
            const auto value = static_cast<float>(std::exp2(stops(random)));
            const double v = static_cast<double>(value);
            const double light =
                curve == ToneCurve::srgb ? std::min(v, 1.0)
                : curve == ToneCurve::reinhard
                    ? v / (1 + v)
                    : std::min(1.0, (2.51 * v * v + 0.03 * v) / (2.43 * v * v + 0.59 * v + 0.14));
            const double exact = std::clamp(encoded(light) * 256, 0.0, 255.999);
            const Rgb seen = mapped(value, {0, 1}, ColorMap::grey, curve);
            EXPECT_NEAR(seen[0] + 0.5, exact, 0.5 + 1e-3) << value << " curve " << static_cast<int>(curve);
        }
    constexpr float kInf = std::numeric_limits<float>::infinity();
    for (const ToneCurve curve : {ToneCurve::srgb, ToneCurve::reinhard, ToneCurve::filmic}) {
        EXPECT_EQ(mapped(kInf, {0, 1}, ColorMap::grey, curve), kInfiniteColor);
        EXPECT_EQ(mapped(1e30F, {0, 1}, ColorMap::grey, curve)[0], 255);
        EXPECT_EQ(mapped(-1, {0, 1}, ColorMap::grey, curve)[0], 0);
        EXPECT_EQ(mapped(0, {0, 1}, ColorMap::grey, curve)[0], 0);
        EXPECT_EQ(mapped(std::numeric_limits<float>::quiet_NaN(), {0, 1}, ColorMap::grey, curve),
                  kUndefinedColor);
    }
}

TEST(MapColors, OnlyImagesOfLightAreEncodedUnlessRequested) {
    Mapping mapping;
    mapping.colormap = ColorMap::grey;
    EXPECT_EQ(curve_in_effect(mapping, 1, false), ToneCurve::linear);
    EXPECT_EQ(curve_in_effect(mapping, 1, true), ToneCurve::srgb);
    EXPECT_EQ(curve_in_effect(mapping, 3, true), ToneCurve::srgb);
    mapping.curve = ToneCurve::filmic;
    EXPECT_EQ(curve_in_effect(mapping, 1, false), ToneCurve::filmic);
    mapping.colormap = ColorMap::turbo; // numbers with a scale
    EXPECT_EQ(curve_in_effect(mapping, 1, true), ToneCurve::linear);
    EXPECT_EQ(curve_in_effect(mapping, 3, true), ToneCurve::filmic); // colour images have no map
}

TEST(MapColors, IntegersAndPitchAndColour) {
    const Shape shape{5, 3, 1, PixelType::u16};
    std::vector<std::uint16_t> pixels(3 * 8, 60000);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 5; ++x)
            pixels[static_cast<std::size_t>(y * 8 + x)] = static_cast<std::uint16_t>(16 * (y * 5 + x));
    std::vector<std::byte> out(3 * 20, std::byte{77});
    map_colors(ConstHostView(reinterpret_cast<const std::byte*>(pixels.data()), shape, 16), ColorMap::grey,
               {0, 4096}, ToneCurve::linear, HostView(out.data(), {5, 3, 3, PixelType::u8}, 20));
    for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t i = 0; i < 15; ++i)
            EXPECT_EQ(std::to_integer<std::size_t>(out[y * 20 + i]), y * 5 + i / 3);
        EXPECT_EQ(out[y * 20 + 15], std::byte{77}); // padding stays
    }
    const std::uint8_t color[] = {0, 100, 255}; // scaled, for any map
    map_colors(ConstHostView(reinterpret_cast<const std::byte*>(color), {1, 1, 3, PixelType::u8}),
               ColorMap::jet, {0, 512}, ToneCurve::linear, HostView(out.data(), {1, 1, 3, PixelType::u8}));
    EXPECT_EQ(out[0], std::byte{0});
    EXPECT_EQ(out[1], std::byte{50});
    EXPECT_EQ(out[2], std::byte{127});
}

ValueRange range_of(std::vector<float>& pixels, int width, double low, double high) {
    const int height = static_cast<int>(pixels.size()) / width;
    return percentile_range(
        ConstHostView(reinterpret_cast<const std::byte*>(pixels.data()), {width, height, 1, PixelType::f32}),
        low, high);
}

TEST(PercentileRange, IsExactOnSmallImagesAndIgnoresNonFiniteValues) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                    kInf = std::numeric_limits<float>::infinity();
    std::vector<float> pixels;
    for (int i = 0; i <= 100; ++i)
        pixels.push_back(static_cast<float>((i * 37) % 101)); // 0…100, shuffled
    for (int i = 0; i < 101; ++i)
        pixels.push_back(i % 3 == 0 ? kNaN : i % 3 == 1 ? kInf : -kInf);
    const ValueRange range = range_of(pixels, 101, 2, 99);
    EXPECT_EQ(range.low, 2);
    EXPECT_EQ(range.high, 99);
    const ValueRange whole = range_of(pixels, 101, 0, 100);
    EXPECT_EQ(whole.low, 0);
    EXPECT_EQ(whole.high, 100);
    const ValueRange nearest = range_of(pixels, 101, 2.6, 97.5); // nearest rank; halves are rounded up
    EXPECT_EQ(nearest.low, 3);
    EXPECT_EQ(nearest.high, 98);
    const ValueRange below = range_of(pixels, 101, 2.4, 98.4);
    EXPECT_EQ(below.low, 2);
    EXPECT_EQ(below.high, 98);
    const ValueRange turned = range_of(pixels, 101, 98, 3);
    EXPECT_EQ(turned.low, 3);
    EXPECT_EQ(turned.high, 98);
    std::vector<float> nothing(50, kNaN);
    EXPECT_EQ(range_of(nothing, 10, 1, 99).low, 0);
    EXPECT_EQ(range_of(nothing, 10, 1, 99).high, 1);
    std::vector<float> flat(50, 300);
    EXPECT_LT(range_of(flat, 10, 1, 99).low, 300);
    EXPECT_GT(range_of(flat, 10, 1, 99).high, 300);
}

TEST(PercentileRange, SamplesLargeImagesWell) {
    const int width = 1392, height = 1040;
    std::vector<float> ramp(static_cast<std::size_t>(width * height));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            ramp[static_cast<std::size_t>(y * width + x)] = static_cast<float>(x) / width;
    const ValueRange range = range_of(ramp, width, 5, 90);
    EXPECT_NEAR(range.low, 0.05, 0.01); // a grid step is 5/1392
    EXPECT_NEAR(range.high, 0.90, 0.01);
}

TEST(SampleValues, SkipsPixelsOfLargeImages) {
    for (const auto& [width, height, grid] : {std::tuple{256, 256, 256 * 256}, // the whole image
                                              {257, 256, 129 * 128},
                                              {2048, 2048, 256 * 256},
                                              {4096, 1024, 512 * 128}}) {
        const Shape shape{width, height, 1, PixelType::u16};
        const std::vector<std::byte> pixels(shape.bytes());
        std::vector<float> values;
        EXPECT_EQ(sample_values(ConstHostView(pixels.data(), shape), values), static_cast<std::size_t>(grid))
            << width << "×" << height;
        EXPECT_EQ(values.size(), static_cast<std::size_t>(grid));
    }
}

TEST(FixedRange, AppliesToOneQuantityOfOneSource) {
    const RangeSubject flow{"a.tiff", "speckle flow index"};
    const RangeSubject contrast{"a.tiff", "speckle contrast"};
    const RangeSubject other{"b.tiff", "speckle contrast"};
    RangeSubject known;
    Mapping mapping;
    mapping.automatic = false;
    mapping.low = 0;
    mapping.high = 300;
    EXPECT_EQ(release_range(mapping, known, flow), "")
        << "the first picture gets the range that was asked for";
    EXPECT_EQ(release_range(mapping, known, flow), "");
    EXPECT_FALSE(mapping.automatic);
    EXPECT_EQ(release_range(mapping, known, contrast),
              "The fixed range 0…300 was of speckle flow index; it is automatic again for speckle contrast.");
    EXPECT_TRUE(mapping.automatic);
    EXPECT_EQ(release_range(mapping, known, other), "") << "automatic: nothing to release";
    mapping.automatic = false;
    EXPECT_EQ(release_range(mapping, known, other), "") << "fixed for this one";
    EXPECT_FALSE(mapping.automatic);
    EXPECT_NE(release_range(mapping, known, contrast), "") << "another source";
    EXPECT_TRUE(mapping.automatic);
}

TEST(MappingTable, DeclaresEveryMemberWithItsDefault) {
    Params params(mapping_table());
    EXPECT_EQ(std::get<std::string>(params.get("colormap")), "turbo");
    params.set_text("colormap", "magma");
    EXPECT_EQ(params.as<Mapping>().colormap, ColorMap::magma);
    EXPECT_THROW(params.set_text("colormap", "rainbow"), UsageError);
    EXPECT_THROW(params.set_text("low_percentile", "101"), UsageError);
    EXPECT_EQ(std::get<double>(params.get("exposure_stops")), 0);
    EXPECT_THROW(params.set_text("exposure_stops", "10.5"), UsageError);
    EXPECT_EQ(std::get<std::string>(params.get("curve")), "auto");
    EXPECT_EQ(mapping_table().decls().size(), 8U);
    EXPECT_EQ(mapping_table().owner(), "view");
}

} // namespace mapping_test
