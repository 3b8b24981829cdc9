// Losses are visible: a lost camera, and a failed recording.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_lost_test {

using ViewerLost = ViewerTest;

constexpr const char* kRegions =
    R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})";

TEST_F(ViewerLost, ASourceThatIsGoneIsGreyWithoutValues) {
    write_text(folder_ / "r.json", kRegions);
    Viewer viewer(*desktop_, folder_,
                  with({"gst:videotestsrc is-live=true pattern=snow ! "
                        "video/x-raw,format=GRAY8,width=96,height=64,framerate=20/1 ! "
                        "identity error-after=60",
                        "--no-remember", "--regions", "r.json", "--stage", "speckle:output=contrast"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("region.mean.0") > 0; })) << viewer.log();
    EXPECT_EQ(viewer.text("grey"), "");
    ASSERT_TRUE(viewer.until([&] { return viewer.raised("source_lost"); })) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.number("stale") > 0; }));
    EXPECT_TRUE(std::isnan(viewer.number("region.mean.0")));
    EXPECT_EQ(viewer.text("summary").find("no drops"), std::string::npos) << viewer.text("summary");
    const Rect canvas = viewer.widget("canvas");
    viewer.events({"mousemove", std::to_string(std::lround(canvas.x + canvas.width / 2)),
                   std::to_string(std::lround(canvas.y + canvas.height / 2))});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("hover.x") >= 0; }));
    EXPECT_TRUE(std::isnan(viewer.number("hover.value")));
    const auto seen =
        shot().at(static_cast<int>(canvas.x + 30), static_cast<int>(canvas.y + canvas.height / 2));
    EXPECT_NEAR(seen[0], seen[2], 12) << "grey";
    EXPECT_TRUE(viewer.until([&] { // it is back
        return viewer.text("summary").find("missed") != std::string::npos &&
               std::isnan(viewer.number("stale"));
    })) << viewer.text("summary");
    EXPECT_EQ(viewer.text("summary").find("no drops"), std::string::npos) << viewer.text("summary");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerLost, ARecordingThatFailedStaysUntilItIsAcknowledged) {
    std::filesystem::create_directory(folder_.path() / "gone");
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64", "--no-remember", "--record", "gone/a.tiff"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_FALSE(viewer.raised("recording_stopped"));
    std::filesystem::remove_all(folder_.path() / "gone");
    ASSERT_TRUE(viewer.until([&] { return viewer.raised("recording_stopped"); })) << viewer.log();
    const Rect canvas = viewer.widget("canvas"), button = viewer.widget("alarms.acknowledge");
    EXPECT_TRUE(canvas.contains(button.x, button.y) &&
                canvas.contains(button.x + button.width, button.y + button.height))
        << button.x << " " << button.y;
    viewer.click("alarms.acknowledge");
    EXPECT_TRUE(viewer.until([&] { return !viewer.raised("recording_stopped"); }));
    (void)viewer.quit();
}

} // namespace specklescope::viewer_lost_test
