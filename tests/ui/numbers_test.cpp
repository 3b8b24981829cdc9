// Numbers for people, and the meaning of colours.
#include "config/numbers.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/overlay.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::numbers_test {

TEST(Numbers, SizesInTheUnitThatFits) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(999), "999 B");
    EXPECT_EQ(size_text(1000), "1.0 kB");
    EXPECT_EQ(size_text(12'400'000), "12.4 MB");
    EXPECT_EQ(size_text(999'600'000), "1.0 GB");
    EXPECT_EQ(size_text(234'000'000'000), "234 GB");
    EXPECT_EQ(size_text(5'000'000'000'000'000), "5000 TB");
}

TEST(Numbers, CountsAndTimes) {
    EXPECT_EQ(count_text(12), "12");
    EXPECT_EQ(count_text(9999), "9999");
    EXPECT_EQ(count_text(10000), std::string("10") + kThousands + "000");
    EXPECT_EQ(count_text(1234567), std::string("1") + kThousands + "234" + kThousands + "567");
    EXPECT_EQ(sample_text(65535, PixelType::u16), std::string("65") + kThousands + "535");
    EXPECT_EQ(number_text(-123456.7), std::string("-123") + kThousands + "457");
    EXPECT_EQ(number_text(1234.5, 6), "1234.50");
    EXPECT_EQ(brief_count_text(1, "frame"), "1 frame");
    EXPECT_EQ(brief_count_text(9999, "frame"), "9999 frames");
    EXPECT_EQ(brief_count_text(12345, "frame"), "12.3 k frames");
    EXPECT_EQ(brief_count_text(123456, "frame"), "123 k frames");
    EXPECT_EQ(brief_count_text(2'340'000, "frame"), "2.3 M frames");
    EXPECT_EQ(clock_text(125), "2:05");
    EXPECT_EQ(clock_text(3725.9), "1:02:05");
    EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(Numbers, SamplesAreWholeWhereTheirTypeIs) {
    EXPECT_EQ(sample_text(1234, PixelType::u16), "1234");
    EXPECT_EQ(sample_text(7, PixelType::u8), "7");
    EXPECT_EQ(sample_text(0.25, PixelType::f32), "0.2500");
}

/// The text of every tick reads back as the tick, without excess digits.
TEST(Numbers, TicksAreOneTwoOrFiveAndHaveTheDigitsThatTellThemApart) {
    for (const double power : {1e-9, 1e-3, 0.01, 0.1, 1.0, 10.0, 1e4, 1e7})
        for (const double lead : {1.0, 2.0, 5.0}) {
            const double step = nice_step(3.99 * lead * power, 4);
            EXPECT_NEAR(step, lead * power, 1e-9 * step);
            const int digits = decimals_of(step);
            const double scaled = step * std::pow(10, digits);
            EXPECT_NEAR(scaled, std::round(scaled), 1e-6) << step << " does not fit into " << digits;
            EXPECT_GE(std::round(scaled), 1) << step;
            if (digits > 0) {
                EXPECT_LT(scaled, 10) << step << " needs fewer than " << digits;
            }
        }
    EXPECT_EQ(decimals_of(0.05), 2);
    EXPECT_EQ(decimals_of(0.2), 1);
    EXPECT_EQ(decimals_of(10), 0);
}

TEST(Numbers, LongTicksShareAPowerOfAThousand) {
    struct Case {
        double low, high;
        int exponent;
    };
    for (const Case& one : {Case{0, 1, 0},
                            {0, 9999, 0},
                            {0, 10000, 3},
                            {0, 250000, 3},
                            {0, 1e6, 6},
                            {-3e6, 1, 6},
                            {0, 0.001, 0},
                            {0, 0.00099, -6},
                            {0, 2e-9, -9}}) {
        const TickScale scale = tick_scale(one.low, one.high, 5);
        EXPECT_EQ(scale.exponent, one.exponent) << one.low << " to " << one.high;
        EXPECT_NEAR(scale.factor, std::pow(10, -one.exponent), 1e-9 * scale.factor);
        EXPECT_EQ(scale.decimals, decimals_of(scale.step * scale.factor));
    }
}

TEST(DigitsTelling, AreAsManyAsTellTheValuesOfARangeApart) {
    EXPECT_EQ(digits_telling(0, 1, 3), 3);
    EXPECT_EQ(digits_telling(400, 2700, 4), 4);
    EXPECT_EQ(digits_telling(300.0, 300.01, 3), 7);
    EXPECT_NE(number_text(300.0001, 7), number_text(300.0002, 7));
    EXPECT_EQ(digits_telling(5, 5, 4), 4);
    for (const auto& [low, high] : {std::pair{2e6, 2.001e6}, {1e-5, 1.1e-5}}) { // as powers of ten
        const int digits = digits_telling(low, high, 3);
        const double step = (high - low) / 100;
        EXPECT_NE(number_text(low + step, digits), number_text(low + 2 * step, digits)) << low;
    }
    EXPECT_EQ(digits_telling(-1e308, 1e308, 3), 3);
    EXPECT_EQ(digits_telling(1e12, 1e12 + 1, 3), 9);
    EXPECT_EQ(digits_telling(NAN, 1, 3), 3);
    EXPECT_EQ(digits_telling(0, INFINITY, 3), 3);
}

TEST(LevelColor, ErrorsAreRedWarningsAmberAndTheRestIsNeither) {
    const auto part = [](ImU32 color, int shift) { return static_cast<int>(color >> shift & 0xff); };
    const auto red = [&](ImU32 c) { return part(c, IM_COL32_R_SHIFT); };
    const auto green = [&](ImU32 c) { return part(c, IM_COL32_G_SHIFT); };
    const auto blue = [&](ImU32 c) { return part(c, IM_COL32_B_SHIFT); };
    const ImU32 error = level_color(Message::Level::error), warning = level_color(Message::Level::warning),
                info = level_color(Message::Level::info);
    EXPECT_GT(red(error), 2 * green(error));
    EXPECT_GT(red(error), 2 * blue(error));
    EXPECT_GT(red(warning), green(warning));
    EXPECT_GT(green(warning), 2 * blue(warning));
    EXPECT_GT(blue(info), red(info));
}

} // namespace specklescope::numbers_test
