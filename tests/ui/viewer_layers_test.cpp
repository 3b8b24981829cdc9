// Two pictures in one place: with a divider, blended, and a change against its baseline.
#include "tests/ui/viewer_fixture.hpp"

#include "pipeline/mapping.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

namespace specklescope::viewer_layers_test {

constexpr int kWidth = 48, kHeight = 40;
const Shape kShape{kWidth, kHeight, 1, PixelType::f32};

class LayersTest : public ViewerTest {
protected:
    /// A float picture with undefined and infinite pixels, from 0 to 1.
    std::string picture() {
        std::mt19937_64 random = test::test_random(50);
        std::uniform_real_distribution<float> number(0, 1);
        values_.resize(kShape.pixels());
        for (std::size_t i = 0; i < values_.size(); ++i)
            values_[i] = i % 17 == 0   ? std::numeric_limits<float>::quiet_NaN()
                         : i % 23 == 0 ? std::numeric_limits<float>::infinity()
                                       : number(random);
        write_text(folder_ / "one.raw", {reinterpret_cast<const char*>(values_.data()), kShape.bytes()});
        return "raw:one.raw?width=48&height=40&format=gray32f";
    }
    ConstHostView view() const { return {reinterpret_cast<const std::byte*>(values_.data()), kShape}; }
    std::vector<std::string> words(const std::string& layout, const std::vector<std::string>& more = {}) {
        std::vector<std::string> all = {picture(), "--no-remember",    "--stage", "none",
                                        "--view",  "layout=" + layout, "--view",  "colormap=viridis",
                                        "--view",  "low=0.1",          "--view",  "high=0.9",
                                        "--view",  "overlay=false",    "--view",  "panel=false"};
        all.insert(all.end(), more.begin(), more.end());
        return with(all);
    }
    std::vector<float> values_;
};

using Pixels = std::vector<std::byte>;

std::array<int, 3> pixel(const Pixels& rgb, int x, int y) {
    const std::size_t at = static_cast<std::size_t>(y * kWidth + x) * 3;
    return {std::to_integer<int>(rgb[at]), std::to_integer<int>(rgb[at + 1]),
            std::to_integer<int>(rgb[at + 2])};
}

int apart(const std::array<int, 3>& a, const std::array<int, 3>& b) {
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c)
        most = std::max(most, std::abs(a[c] - b[c]));
    return most;
}

TEST_F(LayersTest, BlendedPixelsFollowTheMappingOfTheHost) {
    Viewer viewer(*desktop_, folder_,
                  words("blended", {"--view", "blend_opacity=0.5", "--view", "blend_threshold=0.3"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Shape colour{kWidth, kHeight, 3, PixelType::u8};
    const auto check = [&](const Blend& blend) {
        const Screenshot screen = at_rest(viewer);
        Pixels rgb(colour.bytes());
        blend_colors(
            view(),
            {ColorMap::grey, {viewer.number("raw.low"), viewer.number("raw.high")}, ToneCurve::linear},
            view(), {ColorMap::viridis, {0.1, 0.9}, ToneCurve::linear}, blend, HostView(rgb.data(), colour));
        const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                     scale = viewer.number("image.scale");
        int wrong = 0;
        for (int y = 4; y < kHeight - 6; ++y) // between the labels
            for (int x = 4; x < kWidth - 4; ++x) {
                const auto seen = screen.at(static_cast<int>(x0 + (x + 0.5) * scale),
                                            static_cast<int>(y0 + (y + 0.5) * scale));
                // One level for rounding; a value at the border of two colours may have either.
                wrong += apart(seen, pixel(rgb, x, y)) > 3 ? 1 : 0;
            }
        EXPECT_LE(wrong, 3) << "opacity " << blend.opacity << ", threshold " << blend.threshold;
    };
    check({0.5, 0.3});
    viewer.key("alt+Up");
    viewer.key("alt+Right");
    viewer.key("alt+Right");
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("blend.threshold") - 0.4) < 1e-9; }));
    EXPECT_NEAR(viewer.number("blend.opacity"), 0.55, 1e-9);
    check({0.55, 0.4});
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(LayersTest, TheDividerIsDraggedAndMovedByKeys) {
    Viewer viewer(*desktop_, folder_, words("processed"));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("4");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.text("layout") == "split" && viewer.has_widget("divider"); }));
    const Rect canvas = viewer.widget("canvas");
    const auto check = [&](double split) {
        EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("split") - split) < 2 / canvas.width; }))
            << viewer.number("split");
        const Screenshot screen = at_rest(viewer);
        const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                     scale = viewer.number("image.scale"), at = canvas.x + canvas.width * split;
        int grey = 0, colours = 0, left = 0, right = 0;
        for (int y = 8; y < kHeight - 8; ++y)
            for (int x = 2; x < kWidth - 2; ++x) {
                const float value = values_[static_cast<std::size_t>(y * kWidth + x)];
                const double sx = x0 + (x + 0.5) * scale;
                if (!std::isfinite(value) || std::abs(sx - at) < 20)
                    continue;
                const auto seen = screen.at(static_cast<int>(sx), static_cast<int>(y0 + (y + 0.5) * scale));
                const bool is_grey = seen[0] == seen[1] && seen[1] == seen[2];
                (sx < at ? left : right) += 1;
                grey += sx < at && is_grey ? 1 : 0;
                colours += sx > at && !is_grey ? 1 : 0;
            }
        EXPECT_GT(left, 100);
        EXPECT_GT(right, 100);
        EXPECT_EQ(grey, left) << "raw on the left";
        EXPECT_GE(colours, right * 95 / 100) << "the result on the right"; // viridis has no grey
    };
    check(0.5);
    const Rect divider = viewer.widget("divider");
    const double from = divider.x + divider.width / 2, y = divider.y + divider.height / 2;
    viewer.drag({{from, y}, {from - 60, y}, {canvas.x + canvas.width * 0.4, y}});
    check(0.4);
    const double before = viewer.number("split");
    viewer.key("alt+Right");
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("split") - before - 0.05) < 1e-9; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(LayersTest, AChangeIsAgainstTheBaselineThatWasTaken) {
    // Alternately 100 and 200: over 20 frames F0 is 150.
    std::string film;
    for (const char value : {static_cast<char>(100), static_cast<char>(200)})
        film += std::string(std::size_t{kWidth} * kHeight, value);
    write_text(folder_ / "film.raw", film);
    Viewer viewer(*desktop_, folder_,
                  with({"raw:film.raw?width=48&height=40&format=gray8", "--no-remember", "--stage", "none",
                        "--rate", "20", "--loop", "--view", "baseline_s=1", "--view", "panel=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("change.shown"), 0);
    viewer.key("y");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("change.shown") == 1; })) << viewer.log();
    EXPECT_NE(viewer.log().find("taken over 20 frames"), std::string::npos) << viewer.log();
    const Rect canvas = viewer.widget("canvas");
    viewer.events({"mousemove", std::to_string(std::lround(canvas.x + canvas.width / 2)),
                   std::to_string(std::lround(canvas.y + canvas.height / 2))});
    for (const double wanted : {100.0 / 3, -100.0 / 3})
        EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("hover.change") - wanted) < 1e-4; }))
            << viewer.number("hover.change");
    // Blue below, red above, of the two colours on the screen.
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner") == "Paused"; }));
    const Screenshot screen = at_rest(viewer);
    const auto seen = screen.at(static_cast<int>(canvas.x + canvas.width / 2),
                                static_cast<int>(canvas.y + canvas.height / 2));
    viewer.events({"mousemove", std::to_string(std::lround(canvas.x + canvas.width / 2)),
                   std::to_string(std::lround(canvas.y + canvas.height / 2))});
    viewer.drawn();
    ASSERT_TRUE(viewer.until([&] { return std::isfinite(viewer.number("hover.change")); }));
    const bool above = viewer.number("hover.change") > 0;
    EXPECT_TRUE(above ? seen[0] > seen[2] : seen[2] > seen[0]) << seen[0] << " " << seen[2];
    viewer.key("y");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("change.shown") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(LayersTest, AChangeIsOfOneSourceAndQuantityAndAPresetBringsItsRange) {
    std::mt19937_64 random = test::test_random(51);
    std::uniform_int_distribution<int> value(100, 250);
    for (const char* name : {"a.raw", "b.raw"}) {
        std::string pixels(kShape.pixels(), '\0');
        std::generate(pixels.begin(), pixels.end(), [&] { return static_cast<char>(value(random)); });
        write_text(folder_ / name, pixels);
    }
    std::filesystem::create_directories(folder_.path() / "config/specklescope/presets");
    write_text(folder_ / "config/specklescope/presets/kc.toml",
               "# Contrast in a range of its own.\n[view]\nautomatic = false\nlow = 0.1\nhigh = 0.9\n"
               "[[stage]]\nname = \"speckle\"\noutput = \"contrast\"\n");
    const std::string size = "?width=48&height=40&format=gray8";
    Viewer viewer(*desktop_, folder_,
                  with({"raw:a.raw" + size, "--no-remember", "--stage", "none", "--rate", "20", "--loop",
                        "--view", "baseline_s=0.3", "--view", "layout=split", "--view", "overlay=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto shown = [&] { return viewer.number("change.shown") == 1; };
    viewer.key("y");
    ASSERT_TRUE(viewer.until(shown)) << viewer.log();
    EXPECT_NE(viewer.text("label.left").find(" ± 50.0 %"), std::string::npos) << viewer.text("label.left");

    viewer.key("o");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "60", "raw:b.raw" + size});
    viewer.key("Return");
    const auto moves_on = [&] { // some frames later
        const double displayed = viewer.number("displayed");
        return viewer.until([&] { return viewer.number("displayed") > displayed + 5; });
    };
    ASSERT_TRUE(viewer.until([&] { return viewer.log().find("Opened raw:b.raw") != std::string::npos; }));
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("open.text"); }));
    ASSERT_TRUE(viewer.shows_picture());
    ASSERT_TRUE(moves_on());
    EXPECT_EQ(viewer.number("change.shown"), 0) << "the baseline is of a.raw";
    EXPECT_NE(viewer.log().find("was for the previous source"), std::string::npos) << viewer.log();

    viewer.key("y");
    ASSERT_TRUE(viewer.until(shown)) << viewer.log();
    viewer.key("ctrl+m");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("preset.kc"); }));
    viewer.click("preset.kc");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("preset.load"); }));
    viewer.click("preset.load");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("chain").starts_with("speckle:"); })) << viewer.log();
    viewer.key("Escape");
    ASSERT_TRUE(moves_on());
    EXPECT_EQ(viewer.number("automatic"), 0);
    EXPECT_EQ(viewer.number("low"), 0.1);
    EXPECT_EQ(viewer.number("high"), 0.9);
    EXPECT_EQ(viewer.log().find("fixed range"), std::string::npos) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.text("preset.label") == "Preset kc"; }))
        << viewer.text("preset.label");
    // No change against a baseline of another quantity: the raw picture is shown instead.
    EXPECT_EQ(viewer.number("change.shown"), 0);
    EXPECT_EQ(viewer.text("label.left"), "raw");
    const Screenshot screen = at_rest(viewer);
    const Rect canvas = viewer.widget("canvas");
    const double left = viewer.number("image.x"), top = viewer.number("image.y"),
                 scale = viewer.number("image.scale");
    const double divider = canvas.x + canvas.width / 2;
    double brightest = 0;
    for (int y = 4; y < kHeight - 4; ++y)
        for (int x = 4; left + (x + 0.5) * scale < divider - 20; ++x)
            brightest = std::max<double>(brightest, screen.at(static_cast<int>(left + (x + 0.5) * scale),
                                                              static_cast<int>(top + (y + 0.5) * scale))[1]);
    EXPECT_GT(brightest, 150);
    // It belongs to the contrast and to no other quantity.
    viewer.key("ctrl+p");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("palette") == 1 && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "60", "bypass 1"});
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("automatic") == 1; })) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_layers_test
