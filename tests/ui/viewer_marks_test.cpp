// Marks on the picture: saturation, values that rest on an assumption, the channel of a colour image.
#include "tests/recording/bigtiff.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include "config/numbers.hpp"

namespace specklescope::viewer_marks_test {

TEST(ShareText, NeverSaysNothingWhereThereIsSomething) {
    EXPECT_EQ(share_text(0), "0.00 %");
    EXPECT_EQ(share_text(1e-9), "< 0.01 %");
    EXPECT_EQ(share_text(0.0004), "0.04 %");
    EXPECT_EQ(share_text(0.0123), "1.2 %");
    EXPECT_EQ(share_text(0.123), "12 %");
    EXPECT_EQ(share_text(1), "100 %");
}

class ViewerMarksTest : public ViewerTest {
protected:
    /// One 8-bit image with this many pixels at full scale.
    std::string picture(int saturated) {
        std::string pixels(std::size_t{100} * 100, '\0');
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] =
                static_cast<char>(i < static_cast<std::size_t>(saturated) ? 255 : 40 + i * 7919 % 150);
        write_text(folder_ / "one.raw", pixels);
        return "raw:one.raw?width=100&height=100&format=gray8";
    }
};

TEST_F(ViewerMarksTest, MoreThanAPercentOfSaturationIsOnThePicture) {
    Viewer many(*desktop_, folder_, with({picture(500), "--no-remember"}));
    ASSERT_TRUE(many.shows_picture()) << many.log();
    EXPECT_TRUE(many.until([&] { return many.raised("saturated"); })) << many.text("alarms");
    EXPECT_TRUE(many.has_widget("alarms"));
    EXPECT_EQ(many.quit(), 0) << many.log();
    Viewer few(*desktop_, folder_, with({picture(90), "--no-remember"}));
    ASSERT_TRUE(few.shows_picture()) << few.log();
    EXPECT_FALSE(few.raised("saturated"));
    EXPECT_EQ(few.quit(), 0) << few.log();
}

TEST_F(ViewerMarksTest, NumbersThatRestOnAnAssumedExposureHaveAStar) {
    for (const auto& [source, stage, assumed] :
         {std::tuple{picture(0), "speckle", 1.0}, std::tuple{picture(0), "speckle:output=contrast", 0.0},
          std::tuple{std::string("synthetic"), "speckle", 0.0}}) {
        Viewer viewer(*desktop_, folder_, with({source, "--no-remember", "--stage", stage}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_EQ(viewer.number("assumed"), assumed) << source << " " << stage;
        EXPECT_EQ(viewer.has_widget("color_bar.assumed"), assumed == 1);
        if (assumed == 1) { // and the mark explains it
            const Rect mark = viewer.widget("color_bar.assumed");
            viewer.events({"mousemove", std::to_string(std::lround(mark.x + 8)),
                           std::to_string(std::lround(mark.y + mark.height - 8))});
            EXPECT_TRUE(viewer.until([&] {
                const std::string says = viewer.text("tooltip");
                return says.find("10 ms") != std::string::npos && says.find("assumed") != std::string::npos;
            })) << viewer.text("tooltip");
        }
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

/// A grey range that follows the raw picture is marked with its limits, and one click fixes it.
TEST_F(ViewerMarksTest, TheRangeOfTheRawPictureIsMarkedAndFixedByOneClick) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64&bits=12", "--no-remember", "--view",
                        "layout=side_by_side"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("raw.lock"); }));
    EXPECT_LT(viewer.number("raw.high"), 4095);
    viewer.click("raw.lock");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.number("raw.high") == 4095 && viewer.number("raw.low") == 0;
    })) << viewer.number("raw.high");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("raw.lock"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMarksTest, TheRowsOfTheOverlayFollowTheChain) {
    Viewer viewer(
        *desktop_, folder_,
        with({picture(0), "--no-remember", "--stage", "gaussian:sigma=1,method=direct", "--stage", "speckle"},
             {"--view", "overlay=true"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto rows = [&](const std::string& wanted) {
        return viewer.until([&] { return viewer.text("overlay.stages").find(wanted) != std::string::npos; });
    };
    // A stage's note is next to its name.
    EXPECT_TRUE(rows(" gaussian=direct speckle=contrast after stage gaussian is too low"))
        << viewer.text("overlay.stages");
    viewer.click("gaussian.down");
    EXPECT_TRUE(rows(" speckle gaussian=the mean of a flow index")) << viewer.text("overlay.stages");
    viewer.click("speckle.remove");
    EXPECT_TRUE(rows(" gaussian=direct")) << viewer.text("overlay.stages");
    EXPECT_EQ(viewer.text("overlay.stages").find("speckle"), std::string::npos);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMarksTest, TheSnapshotOfTheEndIsWrittenByTheWindowToo) {
    Viewer viewer(*desktop_, folder_, with({picture(0), "--no-remember", "--snapshot", "last.tiff"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    const ChildResult same =
        run_program({"run", picture(0), "--frames", "1", "--snapshot", "run.tiff"}, folder_.path().string());
    ASSERT_EQ(same.status, 0) << same.all();
    const BigTiff window(read_text(folder_ / "last.tiff")), run(read_text(folder_ / "run.tiff"));
    ASSERT_EQ(window.pages().size(), 1U);
    EXPECT_EQ(window.pages()[0].pixels, run.pages().at(0).pixels);
    Viewer refused(*desktop_, folder_, with({picture(0), "--no-remember", "--snapshot", "none/last.png"}));
    EXPECT_EQ(refused.wait(), 1) << refused.log();
    EXPECT_NE(refused.log().find("none"), std::string::npos) << refused.log();
}

} // namespace specklescope::viewer_marks_test
