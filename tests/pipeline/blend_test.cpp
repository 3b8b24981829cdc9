// A result blended with the raw image, compared with the formula in float64, pixel by pixel.
#include "pipeline/mapping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace specklescope::blend_test {

TEST(Blend, MatchesTheFormula) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> count(0, 255);
    std::uniform_real_distribution<float> number(-0.2F, 1.2F);
    const Shape raw_shape{23, 17, 1, PixelType::u8}, shape{19, 13, 1, PixelType::f32},
        colour{23, 17, 3, PixelType::u8};
    std::vector<std::uint8_t> raw(raw_shape.pixels());
    for (std::uint8_t& value : raw)
        value = static_cast<std::uint8_t>(count(random));
    std::vector<float> result(shape.pixels());
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = i % 11 == 0   ? std::numeric_limits<float>::quiet_NaN()
                    : i % 13 == 0 ? std::numeric_limits<float>::infinity()
                                  : number(random);
    const auto& turbo = color_table(ColorMap::turbo);
    for (const Blend blend : {Blend{0.6, 0.25}, Blend{0, 0}, Blend{1, 0}, Blend{1, 1}, Blend{0.35, 0.9}}) {
        std::vector<std::byte> rgb(colour.bytes());
        blend_colors(ConstHostView(reinterpret_cast<const std::byte*>(raw.data()), raw_shape),
                     {ColorMap::grey, {0, 256}, ToneCurve::linear},
                     ConstHostView(reinterpret_cast<const std::byte*>(result.data()), shape),
                     {ColorMap::turbo, {0, 1}, ToneCurve::linear}, blend, HostView(rgb.data(), colour));
        for (int y = 0; y < 17; ++y)
            for (int x = 0; x < 23; ++x) {
                const int rx = x - 2, ry = y - 2; // two pixels are missing on each side
                const bool on = rx >= 0 && ry >= 0 && rx < 19 && ry < 13;
                const float v = on ? result[static_cast<std::size_t>(ry * 19 + rx)]
                                   : std::numeric_limits<float>::quiet_NaN();
                const double place = std::floor(std::min(255.0, std::max(0.0, static_cast<double>(v) * 256)));
                const bool seen = std::isinf(v) || (!std::isnan(v) && place >= blend.threshold * 256);
                for (std::size_t c = 0; c < 3; ++c) {
                    const double below = raw[static_cast<std::size_t>(y * 23 + x)];
                    const double over = std::isinf(v)   ? kInfiniteColor[c]
                                        : std::isnan(v) ? 0
                                                        : turbo[static_cast<std::size_t>(place)][c];
                    const double wanted = seen ? below * (1 - blend.opacity) + over * blend.opacity : below;
                    const double got =
                        std::to_integer<int>(rgb[static_cast<std::size_t>(y * 23 + x) * 3 + c]);
                    EXPECT_LE(std::abs(got - wanted), 0.5 + 1e-9)
                        << x << "," << y << " " << v << " opacity " << blend.opacity;
                }
            }
    }
}

TEST(Blend, TheFirstIndexIsTheSmallestAboveTheThreshold) {
    for (int i = 0; i <= 1000; ++i) {
        const double threshold = i / 1000.0;
        const int first = Blend{0.5, threshold}.first_index();
        EXPECT_GE(first, threshold * 256) << threshold;
        EXPECT_LT(first - 1, threshold * 256) << threshold;
    }
}

} // namespace specklescope::blend_test
