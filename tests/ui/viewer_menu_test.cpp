// The menus of the window, by mouse and by keys only, and what the command palette finds.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_menu_test {

class ViewerMenuTest : public ViewerTest {
protected:
    static void see_menu(const Viewer& viewer, const std::string& name) {
        ASSERT_TRUE(viewer.until([&] { return viewer.text("menu") == name; })) << viewer.text("menu");
        viewer.drawn(); // the keyboard has reached its first entry
    }
    static std::vector<std::string> still(const char* width, const char* height) {
        return {"synthetic:vessels?width=96&height=64", "--no-remember", "--view",
                std::string("width=") + width,          "--view",        std::string("height=") + height};
    }
};

TEST_F(ViewerMenuTest, KeysOpenWalkAndCloseThem) {
    Viewer viewer(*desktop_, folder_, still("1280", "800"));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("F10");
    see_menu(viewer, "File");
    viewer.key("Left"); // round to the last
    see_menu(viewer, "Help");
    viewer.key("Right");
    see_menu(viewer, "File");
    viewer.key("Right");
    see_menu(viewer, "Edit");
    viewer.key("Right");
    see_menu(viewer, "View");
    viewer.key("Down");
    viewer.drawn();
    viewer.key("Return"); // the second entry
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    see_menu(viewer, "");

    const std::string colours = viewer.text("colormap");
    viewer.key("alt");
    see_menu(viewer, "File");
    viewer.key("m"); // a letter is for the menu
    viewer.key("alt");
    see_menu(viewer, "");
    EXPECT_EQ(viewer.text("colormap"), colours);
    viewer.key("alt+Right"); // Alt as a modifier is no request for the menu
    viewer.drawn();
    EXPECT_EQ(viewer.text("menu"), "");
    viewer.key("F10");
    see_menu(viewer, "File");
    viewer.key("Escape");
    see_menu(viewer, "");
    viewer.key("m");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != colours; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMenuTest, TheMouseOpensASubmenuAndAnImpossibleEntryTellsWhy) {
    Viewer viewer(*desktop_, folder_, still("1280", "800"));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.click("menu.File");
    see_menu(viewer, "File");
    viewer.point_at("menu.View"); // no second click
    see_menu(viewer, "View");
    viewer.click("menu.View/Zoom");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("menu.one_to_one"); }));
    viewer.click("menu.one_to_one");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("zoom") == 1; }));
    see_menu(viewer, "");
    viewer.click("menu.Edit");
    see_menu(viewer, "Edit");
    viewer.point_at("menu.undo"); // nothing was done
    EXPECT_TRUE(viewer.until([&] { return !viewer.text("tooltip").empty(); }));
    viewer.click("menu.undo");
    viewer.drawn();
    EXPECT_EQ(viewer.text("menu"), "Edit");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMenuTest, ANarrowWindowHasThemAllUnderOneButton) {
    Viewer viewer(*desktop_, folder_, still("800", "600"));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_FALSE(viewer.has_widget("menu.File"));
    viewer.key("F10");
    see_menu(viewer, "all");
    for (const char* key : {"Down", "Down"}) {
        viewer.key(key);
        viewer.drawn();
    }
    viewer.key("Return"); // View
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("menu.show_raw"); }));
    viewer.drawn();
    viewer.key("Down");
    viewer.drawn();
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    see_menu(viewer, "");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_menu_test
