// Each alarm in the window: raised, acknowledged, cured; the list of messages; leaving while something is
// recorded.
#include "tests/support/datagram_camera.hpp"
#include "tests/ui/contrast.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <sys/statvfs.h>

namespace specklescope::viewer_alarms_test {

using ViewerAlarms = ViewerTest;

TEST_F(ViewerAlarms, SaturationIsAcknowledgedByAKeyAndCuredByItself) {
    DatagramCamera camera;
    camera.saturated = 10;
    Viewer viewer(*desktop_, folder_,
                  with({camera.source(), "--trust", "--no-remember", "--stage", "speckle:output=contrast"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.raised("saturated"); })) << viewer.text("alarms");
    const Rect bar = viewer.rest("alarms");
    const Rect canvas = viewer.widget("canvas"), button = viewer.widget("alarms.acknowledge");
    EXPECT_TRUE(canvas.contains(bar.x, bar.y) && canvas.contains(bar.x, bar.y + bar.height));
    EXPECT_TRUE(bar.contains(button.x, button.y) &&
                bar.contains(button.x + button.width, button.y + button.height));
    EXPECT_GE(contrast(shot(), {bar.x, bar.y, button.x - bar.x - 8, bar.height}), 4.5);
    viewer.key("F8");
    ASSERT_TRUE(viewer.until([&] { return viewer.acknowledged("saturated"); }));
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("alarms"); }));
    camera.saturated = 0;
    ASSERT_TRUE(viewer.until([&] { return !viewer.acknowledged("saturated"); }));
    camera.saturated = 10;
    EXPECT_TRUE(viewer.until([&] { return viewer.raised("saturated"); })) << "a new one";
    viewer.key("F7");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("messages").find("saturated") != std::string::npos; }))
        << viewer.text("messages");
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerAlarms, ASilentSourceIsAnAlarmUntilFramesCome) {
    DatagramCamera camera;
    Viewer viewer(*desktop_, folder_,
                  with({camera.source(), "--trust", "--no-remember", "--stage", "speckle:output=contrast"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    camera.silent = true;
    ASSERT_TRUE(viewer.until([&] { return viewer.raised("source_lost"); }));
    EXPECT_GE(contrast(shot(), viewer.rest("alarms")), 4.5);
    camera.silent = false;
    EXPECT_TRUE(viewer.until([&] { return !viewer.raised("source_lost"); })) << "without a hand";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerAlarms, AnAssumedExposureOfACameraIsAnAlarm) {
    DatagramCamera camera;
    Viewer viewer(*desktop_, folder_,
                  with({camera.source(), "--trust", "--no-remember", "--stage", "speckle"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.raised("exposure_assumed"); }));
    viewer.click("alarms.acknowledge");
    EXPECT_TRUE(viewer.until([&] { return !viewer.raised("exposure_assumed"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerAlarms, DroppedFramesAreAnAlarm) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:uniform?width=640&height=480&live=true&rate=5000", "--no-remember",
                        "--stage", "speckle:output=contrast", "--stage", "gaussian:sigma=40,method=direct"}));
    EXPECT_TRUE(viewer.until([&] { return viewer.raised("frames_dropped"); }))
        << viewer.text("alarms") << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerAlarms, ADiskThatIsSoonFullIsAnAlarm) {
    struct statvfs disk {};
    ASSERT_EQ(::statvfs(folder_.path().c_str(), &disk), 0);
    const double unit = static_cast<double>(disk.f_frsize);
    const double kept =
        (static_cast<double>(disk.f_bavail) * unit - 4e8) / (static_cast<double>(disk.f_blocks) * unit) * 100;
    if (kept < 1 || kept > 50)
        GTEST_SKIP() << "the disk of the tests is not large or not empty enough";
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:uniform?width=640&height=480&rate=30", "--no-remember", "--record-raw",
                        "a.raw", "--keep-free", std::to_string(kept)}));
    EXPECT_TRUE(viewer.until([&] {
        return viewer.raised("disk_low") || viewer.raised("recording_stopped"); // others may fill the disk
    })) << viewer.log();
    (void)viewer.quit();
}

TEST_F(ViewerAlarms, LeavingWhileSomethingIsRecordedAsks) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64", "--no-remember", "--record", "a.tiff"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("ctrl+q");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("leave.finish"); })) << viewer.log();
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("leave.finish"); }));
    const double before = viewer.number("sequence");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("sequence") > before; })) << "it goes on";
    viewer.key("ctrl+q");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("leave.finish"); }));
    viewer.key("Return");
    EXPECT_EQ(viewer.wait(), 0) << viewer.log();
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "a.tiff"));
    Viewer ended(*desktop_, folder_,
                 with({"synthetic:vessels?width=96&height=64", "--no-remember", "--record", "b.tiff"}));
    ASSERT_TRUE(ended.shows_picture()) << ended.log();
    ended.signal(SIGTERM); // no user is there to answer
    EXPECT_EQ(ended.wait(), 0) << ended.log();
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "b.tiff"));
}

TEST_F(ViewerAlarms, AWindowWaitsForItsCamera) {
    DatagramCamera camera;
    camera.silent = true;
    Viewer viewer(*desktop_, folder_,
                  with({camera.source(), "--trust", "--no-remember", "--record", "a.tiff", "--stage",
                        "speckle:output=contrast"}));
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").find("Waiting for") == 0; })) << viewer.log();
    viewer.key("Escape"); // another one may be chosen
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.text"); })) << viewer.log();
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("open.text"); }));
    camera.silent = false;
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.text("banner"), "");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "a.tiff")) << "what was to be recorded is";
}

TEST_F(ViewerAlarms, AMissingFileOrAWrongNameIsAnErrorAtOnce) {
    Viewer missing(*desktop_, folder_, with({"none.tiff", "--no-remember"}));
    EXPECT_EQ(missing.wait(), 1) << missing.log();
    Viewer wrong(*desktop_, folder_, with({"v4l2:/dev/video77?nothing=1", "--no-remember"}));
    EXPECT_EQ(wrong.wait(), 2) << wrong.log();
    Viewer later(*desktop_, folder_, with({"v4l2:/dev/video77", "--no-remember"}));
    EXPECT_TRUE(later.until([&] { return later.text("banner").find("Waiting for v4l2") == 0; }))
        << later.log();
    EXPECT_EQ(later.quit(), 0) << later.log();
}

} // namespace specklescope::viewer_alarms_test
