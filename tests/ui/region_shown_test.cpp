// Displayed regions: on images of other sizes, next to the raw picture, with their source, in the panel.
#include "analysis/regions_file.hpp"
#include "tests/ui/region_tools_fixture.hpp"

namespace specklescope::region_shown_test {

TEST_F(RegionToolsTest, OutsideThePictureNothingIsAddedAndOnASmallerOneTheyAreMarked) {
    const auto viewer = open();
    ASSERT_TRUE(tool(*viewer, "b", "Rectangle"));
    viewer->key("minus");
    viewer->key("minus");
    viewer->key("minus");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("image.y") > viewer->widget("canvas").y + 60; }));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{30, -3}, {50, -8}, {60, -9}}));
    EXPECT_TRUE(viewer->until([&] {
        return viewer->text("status") ==
               "The rectangle has no pixel in the image of 160×120 and was not added. Draw it on the image.";
    })) << viewer->text("status");
    EXPECT_EQ(viewer->number("regions.count"), 0);
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{100, 90}, {120, 100}, {150, 110}}));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{10, 10}, {20, 20}, {99, 30}}));
    ASSERT_TRUE(count(*viewer, 2));
    const std::string smaller = film(80, 60, "small.raw");
    viewer->key("o");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("open.text") && viewer->number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", smaller});
    viewer->key("Return");
    ASSERT_TRUE(viewer->until([&] {
        return viewer->text("region.fit.0") == "outside" && viewer->text("region.fit.1") == "clipped";
    })) << viewer->log();
    EXPECT_EQ(viewer->number("region.pixels.1"), 70 * 21);
    EXPECT_EQ(viewer->text("region.points.0"), "rectangle 100,90 150,110");
    // Other regions can be edited.
    viewer->key("n");
    viewer->key("n");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("regions.selected") >= 0; }));
    viewer->key("shift+n");
    ASSERT_TRUE(selected(*viewer, 0) || selected(*viewer, 1));
    viewer->key("Escape");
    viewer->key("Escape");
    ASSERT_TRUE(selected(*viewer, -1));
    viewer->key("n");
    viewer->key("n");
    ASSERT_TRUE(selected(*viewer, 1));
    viewer->key("shift+Down");
    EXPECT_TRUE(points(*viewer, 1, "rectangle 10,20 99,40"));
    EXPECT_TRUE(viewer->until([&] { return viewer->text("region.fit.1") == "clipped"; }));
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, BesideTheResultTheyAreDrawnOnTheRawPictureToo) {
    const auto viewer = open({"--stage", "speckle:radius=3,output=contrast,border=crop", "--view",
                              "layout=side_by_side", "--view", "panel=false"});
    ASSERT_TRUE(viewer->until([&] { return viewer->text("layout") == "side_by_side"; }));
    ASSERT_TRUE(tool(*viewer, "b", "Rectangle"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{13, 11}, {20, 20}, {32, 30}})); // in raw pixels
    ASSERT_TRUE(points(*viewer, 0, "rectangle 10,8 29,27"));                // in pixels of the result
    // The same on the left picture, at the distance of the two pictures.
    const Rect canvas = viewer->widget("canvas");
    const double scale = viewer->number("image.scale"), left = viewer->number("image.x") - canvas.width / 2;
    const auto at = [&](double x, double y) {
        return std::vector<std::string>{
            "mousemove", std::to_string(std::lround(left + (x + 0.5) * scale)),
            std::to_string(std::lround(viewer->number("image.y") + (y + 0.5) * scale))};
    };
    const auto reach = [&](int x, int y) {
        desktop_->events(at(x, y));
        return viewer->until(
            [&] { return viewer->number("hover.x") == x && viewer->number("hover.y") == y; });
    };
    ASSERT_TRUE(reach(50, 40));
    desktop_->events({"mousedown", "1"});
    ASSERT_TRUE(reach(60, 45));
    ASSERT_TRUE(reach(70, 50));
    desktop_->events({"mouseup", "1"});
    ASSERT_TRUE(points(*viewer, 1, "rectangle 47,37 67,47"));
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, TheyComeBackWithTheirSourceAndNotWithAnother) {
    {
        const auto viewer = open({}, true);
        ASSERT_TRUE(tool(*viewer, "c", "Ellipse"));
        ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{30, 30}, {40, 45}, {60, 50}}));
        ASSERT_TRUE(count(*viewer, 1));
        EXPECT_EQ(viewer->quit(), 0) << viewer->log();
    }
    {
        Viewer again(*desktop_, folder_, with({}));
        ASSERT_TRUE(again.shows_picture()) << again.log();
        EXPECT_TRUE(points(again, 0, "ellipse 30,30 60,50"));
        EXPECT_TRUE(again.until([&] { return again.number("region.pixels.0") > 0; }));
        EXPECT_EQ(again.quit(), 0) << again.log();
    }
    Viewer other(*desktop_, folder_, with({"synthetic:uniform?width=64&height=48"}));
    ASSERT_TRUE(other.shows_picture()) << other.log();
    EXPECT_EQ(other.number("regions.count"), 0);
    EXPECT_NE(other.log().find("1 region of the last window was on another source"), std::string::npos)
        << other.log();
    EXPECT_EQ(other.quit(), 0) << other.log();
}

TEST_F(RegionToolsTest, ThePanelDoesTheSameByMouse) {
    write_text(folder_ / "r.json", R"({"regions":[
{"name":"box","shape":"rectangle","points":[[20,20],[59,49]]},
{"name":"tri","shape":"polygon","points":[[90,20],[140,25],[110,70]]}]})");
    write_text(folder_ / "bad.json", "{\"regions\":[\n{\"name\":\"a\"}]}");
    write_text(folder_ / "taken.json", "somebody else's");
    const auto viewer = open({"--regions", "r.json"});
    ASSERT_TRUE(count(*viewer, 2));
    press(*viewer, "region.row.1");
    ASSERT_TRUE(selected(*viewer, 1));
    press(*viewer, "region.lock");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("region.locked.1") == 1; }));
    press(*viewer, "region.duplicate");
    ASSERT_TRUE(count(*viewer, 3));
    press(*viewer, "region.delete");
    ASSERT_TRUE(count(*viewer, 2));
    press(*viewer, "regions.undo");
    ASSERT_TRUE(count(*viewer, 3));
    press(*viewer, "regions.redo");
    ASSERT_TRUE(count(*viewer, 2));
    viewer->double_click("region.row.0");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("region.rename") && viewer->number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", "tri"});
    viewer->key("Return");
    EXPECT_TRUE(
        viewer->until([&] { return viewer->text("status").starts_with("There is a region 'tri' already"); }));
    EXPECT_EQ(viewer->text("region.name.0"), "box");

    press(*viewer, "regions.load");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("regions.path") && viewer->number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", "bad.json"});
    viewer->key("Return");
    EXPECT_TRUE(viewer->until([&] {
        return viewer->text("regions.path.error").starts_with("bad.json, line 2: the region has no shape");
    })) << viewer->text("regions.path.error");
    viewer->key("Escape");
    ASSERT_TRUE(viewer->until([&] { return !viewer->has_widget("regions.path"); }));
    EXPECT_EQ(viewer->number("regions.count"), 2);

    press(*viewer, "regions.save");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("regions.path") && viewer->number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", "taken"});
    viewer->key("Return");
    EXPECT_TRUE(viewer->until(
        [&] { return viewer->text("regions.path.error").starts_with("A file of this name exists."); }));
    EXPECT_EQ(read_text(folder_ / "taken.json"), "somebody else's");
    viewer->key("Return");
    EXPECT_TRUE(viewer->until([&] { return !viewer->has_widget("regions.path"); }));
    const std::vector<Region> saved = load_regions(folder_ / "taken.json");
    ASSERT_EQ(saved.size(), 2U);
    EXPECT_TRUE(saved[1].locked);
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

} // namespace specklescope::region_shown_test
