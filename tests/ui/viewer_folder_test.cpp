// Choosing the folder for recordings from a list.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_folder_test {

class FolderViewerTest : public ViewerTest {};

TEST_F(FolderViewerTest, IsWalkedToChosenAndTakesTheRecordings) {
    std::filesystem::create_directories(folder_.path() / "mouse 7/day 2");
    Viewer viewer(
        *desktop_, folder_,
        with({"synthetic?rate=50", "--no-remember", "--view", "panel_sections=Record,Stages,Display"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.click("record.browse");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("folder.mouse 7"); })) << viewer.log();
    viewer.click("folder.mouse 7");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("folder.day 2"); }));
    viewer.click("folder.day 2");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("folder.day 2"); }));
    viewer.click("folder.choose");
    const std::string chosen = (folder_.path() / "mouse 7/day 2").string();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("folder") == chosen; })) << viewer.text("folder");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("folder.path"); }));
    viewer.key("s"); // a snapshot is written there
    EXPECT_TRUE(viewer.until([&] { return !std::filesystem::is_empty(chosen); })) << viewer.log();

    viewer.click("record.browse");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.has_widget("folder.path") && viewer.number("typing") == 1; }));
    viewer.key("ctrl+a");
    viewer.events({"type", "--delay", "40", "/no/such/place"});
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.text("folder.said").find("/no/such/place") != std::string::npos;
    })) << viewer.text("folder.said");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("folder.path"); }));
    EXPECT_EQ(viewer.text("folder"), chosen) << "nothing was chosen";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_folder_test
