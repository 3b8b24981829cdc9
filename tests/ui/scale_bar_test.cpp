// Pixel size in the window: the bar on the picture, the field by key, and a line of known length.
#include "ui/canvas/ticks.hpp"

#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cmath>
#include <random>

namespace specklescope::scale_bar_test {

TEST(ScaleBar, IsTheLongestRoundLengthThatFits) {
    std::mt19937_64 random = test::test_random(52);
    std::uniform_real_distribution<double> power(-4, 6), size(30, 400);
    for (int i = 0; i < 20000; ++i) {
        const double um = std::pow(10, power(random)), room = size(random);
        const ScaleBar bar = scale_bar(um, room);
        const double digits = bar.um / std::pow(10, std::floor(std::log10(bar.um) + 1e-9));
        EXPECT_TRUE(std::abs(digits - 1) < 1e-9 || std::abs(digits - 2) < 1e-9 || std::abs(digits - 5) < 1e-9)
            << bar.um;
        EXPECT_NEAR(bar.length * um / bar.um, 1, 1e-12);
        EXPECT_LE(bar.length, room * (1 + 1e-9));
        EXPECT_GT(bar.length * 2.5 * (1 + 1e-9), room) << "the next round length would fit";
    }
}

TEST(ScaleBar, SaysItInAUnitThatIsRead) {
    EXPECT_EQ(scale_bar(1, 250).text, "200 µm");
    EXPECT_EQ(scale_bar(1, 1000).text, "1 mm");
    EXPECT_EQ(scale_bar(0.001, 600).text, "500 nm");
    EXPECT_EQ(scale_bar(100, 300).text, "2 cm");
    EXPECT_EQ(scale_bar(5, 100).text, "500 µm");
}

constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[2,2],[11,6]]},
{"name":"across","shape":"line","points":[[2,10],[32,50]]}]})";

class ScaleViewerTest : public ViewerTest {
protected:
    std::vector<std::string> words(std::vector<std::string> more = {}) {
        write_text(folder_ / "r.json", kRegions);
        more.insert(more.begin(), {"synthetic:vessels?width=128&height=96", "--no-remember", "--stage",
                                   "speckle", "--regions", "r.json"});
        return with(more);
    }
};

TEST_F(ScaleViewerTest, IsTypedAndFollowsTheChain) {
    Viewer viewer(*desktop_, folder_, words());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("scale.um_per_px"), 0);
    EXPECT_FALSE(viewer.has_widget("scale.bar"));
    viewer.key("k");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("scale.um") && viewer.number("typing") == 1; }))
        << viewer.log();
    viewer.events({"type", "abc"});
    viewer.key("Return");
    ASSERT_TRUE(
        viewer.until([&] { return !viewer.text("scale.error").empty() && viewer.number("typing") == 1; }));
    viewer.key("ctrl+a");
    viewer.events({"type", "2.5"});
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("scale.um_per_px") == 2.5; })) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("scale.bar"); }));
    const Rect bar = viewer.widget("scale.bar");
    EXPECT_NEAR(bar.width * 2.5 / viewer.number("image.scale"), viewer.number("scale.um"), 1e-6);
    EXPECT_TRUE(viewer.until([&] { return viewer.number("region.um2.0") == 50 * 6.25; }))
        << viewer.number("region.um2.0");
    // Visible on any picture: light on dark.
    const Screenshot seen = shot();
    const auto brightness = [&](double x, double y) {
        const auto rgb = seen.at(static_cast<int>(x), static_cast<int>(y));
        return rgb[0] + rgb[1] + rgb[2];
    };
    const double middle = bar.x + bar.width / 2;
    EXPECT_GT(brightness(middle, bar.y + 2) - brightness(middle, bar.y + bar.height + 4), 400);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ScaleViewerTest, IsDrawnOverAKnownLength) {
    Viewer viewer(*desktop_, folder_, words({"--um-per-px", "4"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("scale.um_per_px"), 4);
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("region.row.1"); })) << viewer.log();
    viewer.click("region.row.1");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("regions.selected") == 1; }));
    viewer.key("k");
    ASSERT_TRUE(viewer.until([&] {
        return viewer.has_widget("scale.length") && viewer.number("typing") == 1;
    })) << viewer.log();
    viewer.key("ctrl+a");
    viewer.events({"type", "125"}); // of 50 px
    viewer.click("scale.set");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("scale.um_per_px") == 2.5; }))
        << viewer.number("scale.um_per_px") << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::scale_bar_test
