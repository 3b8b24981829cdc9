// Visible part of the picture: zoom, values of single pixels, position of the controls.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_seeing_test {

class ViewerSeeingTest : public ViewerTest {
protected:
    /// Grey, 40×30: pixel (x, y) is 5x + y.
    std::string picture() {
        std::string pixels;
        for (int y = 0; y < 30; ++y)
            for (int x = 0; x < 40; ++x)
                pixels += static_cast<char>(5 * x + y);
        write_text(folder_ / "film.raw", pixels);
        return "raw:film.raw?width=40&height=30&format=gray8";
    }
};

TEST_F(ViewerSeeingTest, OneToOneAndFit) {
    Viewer viewer(*desktop_, folder_, with({picture(), "--no-remember", "--stage", "none"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const double fit = viewer.number("zoom");
    EXPECT_GT(fit, 2);
    viewer.key("0");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("zoom") == 1; })) << viewer.number("zoom");
    viewer.key("f");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("zoom") == fit; })) << viewer.number("zoom");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerSeeingTest, LargePixelsSayTheirValue) {
    Viewer viewer(*desktop_, folder_,
                  with({picture(), "--no-remember", "--stage", "none"}, {"--view", "overlay=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("pixel.values"), 0);
    const Rect canvas = viewer.widget("canvas");
    viewer.events({"mousemove", std::to_string(std::lround(canvas.x + canvas.width / 2)),
                   std::to_string(std::lround(canvas.y + canvas.height / 2)), "click", "--repeat", "20",
                   "--delay", "60", "4"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("image.scale") == 128; }))
        << viewer.number("image.scale");
    // Pixels that are completely on the canvas.
    const auto whole = [](double from, double size, double origin, double scale, int pixels) {
        int count = 0;
        for (int i = 0; i < pixels; ++i)
            count += origin + i * scale >= from && origin + (i + 1) * scale <= from + size ? 1 : 0;
        return count;
    };
    const int expected = whole(canvas.x, canvas.width, viewer.number("image.x"), 128, 40) *
                         whole(canvas.y, canvas.height, viewer.number("image.y"), 128, 30);
    EXPECT_GT(expected, 10);
    EXPECT_TRUE(viewer.until([&] { return viewer.number("pixel.values") == expected; }))
        << viewer.number("pixel.values") << " of " << expected;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Across the whole other picture except the pixel itself, and over the empty canvas next to it.
TEST_F(ViewerSeeingTest, BesideTheResultThePlaceUnderTheMouseIsMarkedInTheRawPicture) {
    Viewer viewer(*desktop_, folder_,
                  with({picture(), "--no-remember", "--stage", "none"},
                       {"--view", "layout=side_by_side", "--view", "panel=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect canvas = viewer.widget("canvas");
    const double scale = viewer.number("image.scale"), half = canvas.width / 2;
    const double x = viewer.number("image.x") + 12.5 * scale, y = viewer.number("image.y") + 9.5 * scale;
    const int above = static_cast<int>(canvas.y + viewer.number("image.y")) / 2; // outside the picture
    const auto brightest = [&](const Screenshot& screen, double from) {          // near a column
        int most = 0;
        for (int column = -2; column <= 2; ++column)
            most = std::max(most, screen.at(static_cast<int>(from) + column, above)[0]);
        return most;
    };
    viewer.events({"mousemove", std::to_string(std::lround(x)), std::to_string(std::lround(y))});
    ASSERT_TRUE(
        viewer.until([&] { return viewer.number("hover.x") == 12 && viewer.number("hover.y") == 9; }));
    viewer.drawn();
    const Screenshot marked = shot();
    EXPECT_GT(brightest(marked, x - half), 100);
    EXPECT_LT(brightest(marked, x - half + 30), 60);
    EXPECT_LT(brightest(marked, x), 60) << "the mouse is mark enough";
    viewer.events({"mousemove", std::to_string(std::lround(x - half)), std::to_string(std::lround(y))});
    viewer.drawn();
    const Screenshot other = shot();
    EXPECT_GT(brightest(other, x), 100) << "and the other way round";
    EXPECT_LT(brightest(other, x - half), 60);

    viewer.key("2"); // the raw picture has no colour bar
    ASSERT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    EXPECT_TRUE(viewer.until([&] { return viewer.widget("canvas").width == 1280; }))
        << viewer.widget("canvas").width;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerSeeingTest, TheBorderOfThePanelIsDragged) {
    Viewer viewer(*desktop_, folder_, with({picture(), "--no-remember", "--stage", "none"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const double before = viewer.widget("canvas").width;
    const Rect edge = viewer.widget("panel.edge");
    const double x = edge.x + edge.width / 2, y = edge.y + edge.height / 2;
    viewer.drag({{x, y}, {x + 50, y}, {x + 100, y}});
    EXPECT_TRUE(viewer.until([&] { return viewer.widget("canvas").width == before + 100; }))
        << before << " to " << viewer.widget("canvas").width;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerSeeingTest, InATallWindowTheControlsAreBelowThePicture) {
    Viewer viewer(*desktop_, folder_,
                  {picture(), "--no-remember", "--stage", "speckle:radius=2", "--view", "width=520", "--view",
                   "height=790"});
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect canvas = viewer.widget("canvas"), radius = viewer.widget("speckle.radius");
    EXPECT_GT(canvas.width, 380); // between the tools and the colour bar
    EXPECT_GT(radius.y, canvas.y + canvas.height);
    EXPECT_LE(radius.x + radius.width, 520);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_seeing_test
