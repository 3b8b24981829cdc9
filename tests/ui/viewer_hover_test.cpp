// Values under the mouse if stages have moved pixels, and pictures wider than a texture.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_hover_test {

TEST_F(ViewerTest, UnderTheMouseIsThePixelThatIsSeenThere) {
    constexpr int kWidth = 40, kHeight = 30;
    std::string pixels;
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
            pixels += static_cast<char>(x + 5 * y);
    write_text(folder_ / "one.raw", pixels);
    Viewer viewer(*desktop_, folder_,
                  with({"raw:one.raw?width=40&height=30&format=gray8", "--no-remember", "--stage",
                        "flip:direction=horizontal"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    desktop_->events({"mousemove", "2", "2"});
    EXPECT_TRUE(viewer.until([&] {
        return viewer.number("hover.x") == -1 && viewer.number("hover.y") == -1;
    })) << "nothing is under it there";
    const int x = 13, y = 7;
    for (const char* layout : {"1", "2"}) { // processed, raw
        viewer.key(layout);
        ASSERT_TRUE(
            viewer.until([&] { return viewer.text("layout") == (*layout == '1' ? "processed" : "raw"); }));
        const double scale = viewer.number("image.scale");
        desktop_->events({"mousemove",
                          std::to_string(static_cast<int>(viewer.number("image.x") + (x + 0.5) * scale)),
                          std::to_string(static_cast<int>(viewer.number("image.y") + (y + 0.5) * scale))});
        ASSERT_TRUE(
            viewer.until([&] { return viewer.number("hover.x") == x && viewer.number("hover.y") == y; }));
        if (*layout == '1') {
            EXPECT_EQ(viewer.number("hover.value"), kWidth - 1 - x + 5 * y);
            EXPECT_TRUE(std::isnan(viewer.number("hover.raw"))) << "no raw pixel is known to belong to it";
        } else {
            EXPECT_EQ(viewer.number("hover.raw"), x + 5 * y);
            EXPECT_TRUE(std::isnan(viewer.number("hover.value")));
        }
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerTest, APictureWiderThanATextureIsShownWhole) {
    constexpr int kWidth = 40000,
                  kHeight = 1000; // wider than any texture; high enough to be visible
    std::string row(kWidth / 2, '\x20');
    row.append(kWidth / 2, '\xd0');
    std::string pixels;
    for (int y = 0; y < kHeight; ++y)
        pixels += row;
    write_text(folder_ / "wide.raw", pixels);
    Viewer viewer(
        *desktop_, folder_,
        with({"raw:wide.raw?width=40000&height=1000&format=gray8", "--no-remember", "--stage", "none"},
             {"--view", "low=0", "--view", "high=255", "--view", "colormap=grey", "--view", "overlay=false",
              "--view", "layout=processed"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                 scale = viewer.number("image.scale");
    ASSERT_GT(scale * kHeight, 20);
    EXPECT_TRUE(viewer.until([&] {
        const Screenshot screen = shot();
        const auto grey = [&](double part) {
            return screen.at(static_cast<int>(x0 + part * kWidth * scale),
                             static_cast<int>(y0 + kHeight * scale / 4))[1];
        };
        return std::abs(grey(0.1) - 0x20) <= 2 && std::abs(grey(0.45) - 0x20) <= 2 &&
               std::abs(grey(0.55) - 0xd0) <= 2 && std::abs(grey(0.9) - 0xd0) <= 2;
    }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_hover_test
