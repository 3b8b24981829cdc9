// YUV to RGB by ITU-R BT.709 in float64, for rows of every length and every instruction set.
#include "sources/gst/simd/yuv_rows.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace specklescope::test::yuv_rows_test {

constexpr double kRed = 0.2126, kBlue = 0.0722, kGreen = 1 - kRed - kBlue; // weights in luma

class YuvRows : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Set, YuvRows, instruction_sets(), instruction_set_name);

/// Largest difference from unrounded RGB, in the range 16…235 of 8 bits or its multiple.
template <class Word> double worst(int width, std::mt19937_64& random) {
    constexpr double kTop = std::numeric_limits<Word>::max(), kStep = (kTop + 1) / 256;
    std::uniform_int_distribution<int> value(0, std::numeric_limits<Word>::max());
    const auto length = static_cast<std::size_t>(width);
    std::vector<Word> y(length), u(length), v(length), rgb(3 * length + 1);
    for (auto* row : {&y, &u, &v})
        std::generate(row->begin(), row->end(), [&] { return static_cast<Word>(value(random)); });
    const double luma = kTop / (219 * kStep), chroma = kTop / (112 * kStep);
    const RgbOfYuv by{.black = static_cast<float>(16 * kStep),
                      .neutral = static_cast<float>(128 * kStep),
                      .luma = static_cast<float>(luma),
                      .v_red = static_cast<float>(chroma * (1 - kRed)),
                      .u_blue = static_cast<float>(chroma * (1 - kBlue)),
                      .u_green = static_cast<float>(chroma * (1 - kBlue) * kBlue / kGreen),
                      .v_green = static_cast<float>(chroma * (1 - kRed) * kRed / kGreen)};
    rgb.back() = 7;
    rgb_row(by, y.data(), u.data(), v.data(), width, rgb.data());
    EXPECT_EQ(rgb.back(), 7) << "beyond the row of " << width;
    double worst = 0;
    for (std::size_t x = 0; x < length; ++x) {
        const double grey = (y[x] - 16 * kStep) * luma;
        const double red = grey + (v[x] - 128 * kStep) * chroma * (1 - kRed);
        const double blue = grey + (u[x] - 128 * kStep) * chroma * (1 - kBlue);
        const double green = (grey - kRed * red - kBlue * blue) / kGreen;
        for (std::size_t c = 0; c < 3; ++c)
            worst = std::max(
                worst, std::abs(rgb[3 * x + c] - std::clamp(std::array{red, green, blue}[c], 0.0, kTop)));
    }
    return worst;
}

TEST_P(YuvRows, AreRoundedOnceAtEveryLength) {
    auto random = test_random(1);
    for (int width = 1; width < 100; ++width) {
        EXPECT_LE(worst<std::uint8_t>(width, random), 0.5001) << width;
        EXPECT_LE(worst<std::uint16_t>(width, random), 0.52) << width;
    }
}

} // namespace specklescope::test::yuv_rows_test
