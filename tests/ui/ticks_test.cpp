// A scale is readable: it has at least two numbers, and they are complete.
#include "ui/canvas/ticks.hpp"

#include "tests/ui/drawn.hpp"
#include "ui/canvas/color_bar.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace specklescope::ticks_test {

TEST(Ticks, OfAnyAxisTwoAtLeastLieWithinItAndApart) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> power(-12, 12), part(0, 10);
    for (int i = 0; i < 20000; ++i) {
        const double span = std::pow(10, power(random)), low = span * (part(random) - 5), high = low + span;
        for (const int parts : {2, 3, 8}) {
            const Ticks ticks = ticks_of(low, high, parts, 0.3);
            ASSERT_LT(ticks.first, ticks.last) << low << " … " << high;
            EXPECT_GE(ticks.value(ticks.first), low - 1e-6 * span);
            EXPECT_LE(ticks.value(ticks.last), high + 1e-6 * span);
            EXPECT_GE(ticks.value(ticks.last) - ticks.value(ticks.first), 0.3 * span * (1 - 1e-9));
            EXPECT_LE(ticks.last - ticks.first, 20);
        }
    }
}

TEST(Ticks, AreAsFewAsWereAskedForWhereThatIsEnough) {
    const Ticks ticks = ticks_of(0, 100, 4, 0.1);
    EXPECT_EQ(ticks.scale.step, 50);
    EXPECT_EQ(ticks.first, 0);
    EXPECT_EQ(ticks.last, 2);
}

TEST(Ticks, OfWhatIsNoAxisThereAreNone) {
    const double huge = std::numeric_limits<double>::max(), none = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity(),
                 least = std::numeric_limits<double>::denorm_min();
    for (const auto& [low, high] : {std::pair{1.0, 1.0},
                                    {2.0, 1.0},
                                    {none, 1.0},
                                    {0.0, none},
                                    {0.0, infinite},
                                    {-huge, huge},
                                    {1e300, std::nextafter(1e300, huge)},
                                    {0.0, least}}) {
        const Ticks ticks = ticks_of(low, high, 3, 0.3);
        EXPECT_LE(ticks.last - ticks.first, 20) << low << " … " << high;
    }
}

class DrawnScale : public DrawnParts {
protected:
    /// Extents of the numbers next to the bar: text in the text colour to its right.
    std::vector<ImVec4> numbers(double low, double high, float height) {
        Mapping mapping;
        mapping.automatic = true;
        mapping.low = low;
        mapping.high = high;
        const Rect area{20, 10, static_cast<double>(color_bar_width()), height};
        right_ = static_cast<float>(area.x + area.width);
        Quantity quantity;
        quantity.symbol = " "; // its own letters are of the same colour
        frame([&] {
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize({400, 800});
            ImGui::Begin("scale", nullptr, ImGuiWindowFlags_NoDecoration);
            (void)color_bar(area, mapping, quantity, Exposure{}, ToneCurve::linear, 1, std::nullopt);
            ImGui::End();
        });
        std::vector<ImVec4> found;
        const std::vector<ImDrawVert> all = drawn_vertices();
        for (std::size_t i = 0; i + 3 < all.size(); ++i) {
            if (all[i].col != theme::kText || all[i + 2].col != theme::kText)
                continue;
            const ImVec4 letter(all[i].pos.x, all[i].pos.y, all[i + 2].pos.x, all[i + 2].pos.y);
            i += 3;
            if (!found.empty() && letter.y < found.back().w &&
                letter.w > found.back().y) { // on the same line
                ImVec4& line = found.back();
                line = {std::min(line.x, letter.x), std::min(line.y, letter.y), std::max(line.z, letter.z),
                        std::max(line.w, letter.w)};
            } else {
                found.push_back(letter);
            }
        }
        return found;
    }
    float right_ = 0;
};

TEST_F(DrawnScale, HasTwoNumbersAtLeastHoweverLowAndWhateverItsRange) {
    for (const auto& [low, high] :
         {std::pair{410.0, 2700.0}, {1010.0, 1490.0}, {0.011, 0.0149}, {-3.0, 3.0}, {0.0, 65535.0}})
        for (const float height : {160.0F, 240.0F, 700.0F}) {
            const std::vector<ImVec4> found = numbers(low, high, height);
            EXPECT_GE(found.size(), 2U) << low << " … " << high << ", " << height << " high";
            for (std::size_t i = 1; i < found.size(); ++i)
                EXPECT_LE(found[i].w, found[i - 1].y + 1) << "none lies on another, from below";
        }
}

TEST_F(DrawnScale, NumbersAreNotCutAtItsEdge) {
    for (const auto& [low, high] : {std::pair{300.01, 300.02}, {-0.0213, -0.0211}, {1000.1, 1000.4}})
        for (const ImVec4& number : numbers(low, high, 400))
            EXPECT_LE(number.z, right_) << low << " … " << high;
}

} // namespace specklescope::ticks_test
