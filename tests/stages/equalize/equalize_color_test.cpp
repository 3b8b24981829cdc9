// Histogram equalisation of colour: keeps hue and saturation, grey stays grey, negative samples count as 0.
#include "tests/stages/equalize/equalize_run.hpp"

namespace specklescope::test::equalize_color_test {

using Scaling = EqualizeParams::Scaling;

TEST(EqualizeColour, KeepsHueAndSaturation) {
    std::mt19937_64 random = test_random(5);
    const auto image = equalize_picture<std::uint16_t>(60, 40, 3, 65535, random);
    const auto result = run_host(image, {.bins = 65536, .scaling = Scaling::minmax});
    for_pixels(image.shape(), [&](int x, int y) {
        const double v = oracle_v(image, x, y);
        const double new_v = oracle_v(result, x, y);
        if (v == 0)
            return;
        for (int c = 0; c < 3; ++c) // the ratios of the channels determine hue and saturation
            ASSERT_LE(std::abs(result.at(3 * x + c, y) - image.at(3 * x + c, y) * new_v / v), 0.5 + 1e-9);
    });
}

TEST(EqualizeColour, NegativeSamplesCountAsZero) {
    std::mt19937_64 random = test_random(9);
    const auto image = negative_picture(61, 43, random);
    for (const auto scaling : {Scaling::maxabs, Scaling::minmax})
        for (const double strength : {1.0, 0.3, 0.0}) {
            const EqualizeParams params{.bins = 4096, .scaling = scaling, .strength = strength};
            const auto result = run_host(image, params);
            const auto expected = oracle_equalize(image, params);
            for_pixels(image.shape(), [&](int x, int y) {
                for (int c = 3 * x; c < 3 * x + 3; ++c) {
                    ASSERT_NEAR(result.at(c, y), expected.at(c, y), 2e-6) << x << ", " << y;
                    ASSERT_LE(result.at(c, y), 3.9F) << "no brighter than the brightest";
                    ASSERT_GE(result.at(c, y), strength == 1 ? 0.0F : -3.4F);
                    if (strength == 0) {
                        ASSERT_NEAR(result.at(c, y), image.at(c, y), 5e-7);
                    }
                }
            });
        }
}

TEST(EqualizeColour, GreyInThreeChannelsIsGrey) {
    std::mt19937_64 random = test_random(6);
    const auto grey = equalize_picture<std::uint8_t>(133, 41, 1, 255, random);
    TestImage<std::uint8_t> rgb(133, 41, 4, 3);
    for_pixels(grey.shape(), [&](int x, int y) {
        for (int c = 0; c < 3; ++c)
            rgb.at(3 * x + c, y) = grey.at(x, y);
    });
    const auto one = run_host(grey, {});
    const auto three = run_host(rgb, {});
    for_pixels(grey.shape(), [&](int x, int y) {
        for (int c = 0; c < 3; ++c)
            ASSERT_EQ(three.at(3 * x + c, y), one.at(x, y));
    });
}

} // namespace specklescope::test::equalize_color_test
