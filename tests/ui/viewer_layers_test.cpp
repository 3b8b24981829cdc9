// Two pictures in one place: a divider between them, one through the other, a change against its baseline.
#include "tests/ui/viewer_fixture.hpp"

#include "pipeline/blend/blend.hpp"

#include <cstring>
#include <limits>
#include <random>

namespace specklescope {
namespace {

constexpr int kWidth = 48, kHeight = 40;
const Shape kShape{kWidth, kHeight, 1, PixelType::f32};

class LayersTest : public ViewerTest {
protected:
    /// A float picture with undefined and infinite pixels, from 0 to 1.
    std::string picture() {
        const unsigned seed = std::random_device{}();
        RecordProperty("seed", std::to_string(seed));
        std::mt19937 random(seed);
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
                // A level for each rounding; a value on the border of two colours may fall on either side.
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
    const std::string y = std::to_string(std::lround(divider.y + divider.height / 2));
    const double from = divider.x + divider.width / 2;
    const auto x = [&](double to) { return std::to_string(std::lround(to)); };
    viewer.events({"mousemove",
                   x(from),
                   y,
                   "sleep",
                   "0.4",
                   "mousedown",
                   "1",
                   "sleep",
                   "0.4",
                   "mousemove",
                   x(from - 60),
                   y,
                   "sleep",
                   "0.4",
                   "mousemove",
                   x(canvas.x + canvas.width * 0.4),
                   y,
                   "sleep",
                   "0.6",
                   "mouseup",
                   "1"});
    check(0.4);
    const double before = viewer.number("split");
    viewer.key("alt+Right");
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("split") - before - 0.05) < 1e-9; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(LayersTest, AChangeIsAgainstTheBaselineThatWasTaken) {
    // 100 and 200 in turn: over 20 frames F0 is 150.
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
    // Blue below, red above: of the two colours on the screen.
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner") == "Paused"; }));
    const Screenshot screen = at_rest(viewer);
    const auto seen = screen.at(static_cast<int>(canvas.x + canvas.width / 2),
                                static_cast<int>(canvas.y + canvas.height / 2));
    viewer.events({"mousemove", std::to_string(std::lround(canvas.x + canvas.width / 2)),
                   std::to_string(std::lround(canvas.y + canvas.height / 2))});
    ASSERT_TRUE(viewer.until([&] { return std::isfinite(viewer.number("hover.change")); }));
    const bool above = viewer.number("hover.change") > 0;
    EXPECT_TRUE(above ? seen[0] > seen[2] : seen[2] > seen[0]) << seen[0] << " " << seen[2];
    viewer.key("y");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("change.shown") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace
} // namespace specklescope
