// Regions drawn and edited with real mouse and keys. Saved regions have the given points, and the values in
// the window equal those of the command line.
#include "analysis/regions_file.hpp"
#include "tests/ui/region_tools_fixture.hpp"

#include <map>

namespace specklescope::region_tools_test {

TEST_F(RegionToolsTest, EachShapeIsSavedAsPointedAtAndMeasuredAsOnTheCommandLine) {
    const auto viewer = open();
    ASSERT_TRUE(tool(*viewer, "b", "Rectangle"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{10, 8}, {20, 20}, {29, 27}}));
    ASSERT_TRUE(count(*viewer, 1));
    desktop_->events({"keydown", "shift"});
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{60, 10}, {70, 20}, {75, 18}}));
    ASSERT_TRUE(count(*viewer, 2));
    desktop_->events({"keyup", "shift"});
    ASSERT_TRUE(tool(*viewer, "c", "Ellipse"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{120, 60}, {110, 40}, {95, 30}})); // from its lower right corner
    ASSERT_TRUE(count(*viewer, 3));
    ASSERT_TRUE(tool(*viewer, "g", "Polygon"));
    for (const auto& [x, y] : {std::pair(20, 50), std::pair(60, 55), std::pair(40, 90)})
        ASSERT_NO_FATAL_FAILURE(click(*viewer, x, y));
    viewer->key("Return");
    ASSERT_TRUE(count(*viewer, 4));
    ASSERT_TRUE(tool(*viewer, "d", "Freehand"));
    const std::vector<std::pair<int, int>> outline = {{100, 80}, {110, 76}, {125, 85}, {118, 100}, {103, 95}};
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, outline));
    ASSERT_TRUE(count(*viewer, 5));
    ASSERT_TRUE(tool(*viewer, "l", "Line"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{70, 110}, {100, 112}, {150, 105}}));
    ASSERT_TRUE(count(*viewer, 6));
    viewer->key("Escape");
    ASSERT_TRUE(viewer->until([&] { return viewer->text("region.tool") == "Select"; }));
    ASSERT_NO_FATAL_FAILURE(save_as(*viewer, "drawn.json"));

    const std::vector<Region> saved = load_regions(folder_ / "drawn.json");
    ASSERT_EQ(saved.size(), 6U);
    using Points = std::vector<RegionPoint>;
    const std::vector<std::pair<RegionShape, Points>> expected = {
        {RegionShape::rectangle, {{10, 8}, {29, 27}}},
        {RegionShape::rectangle, {{60, 10}, {75, 25}}},
        {RegionShape::ellipse, {{120, 60}, {95, 30}}},
        {RegionShape::polygon, {{20, 50}, {60, 55}, {40, 90}}},
        {RegionShape::freehand, {}},
        {RegionShape::line, {{70, 110}, {150, 105}}}};
    for (std::size_t i = 0; i < saved.size(); ++i) {
        EXPECT_EQ(saved[i].shape, expected[i].first) << i;
        EXPECT_EQ(saved[i].name, "region " + std::to_string(i + 1));
        EXPECT_FALSE(saved[i].colour.empty());
        if (i != 4) {
            EXPECT_EQ(saved[i].points, expected[i].second) << i;
        }
    }
    // The pointer also passed pixels between the given points; the given points are included in their order.
    auto next = saved[4].points.begin();
    for (const auto& [x, y] : outline) {
        next = std::find(next, saved[4].points.end(), RegionPoint{double(x), double(y)});
        ASSERT_NE(next, saved[4].points.end()) << x << " " << y << " in " << to_json({saved[4]});
    }

    ASSERT_TRUE(viewer->until([&] { return viewer->number("region.pixels.5") > 0; }));
    EXPECT_EQ(viewer->number("regions.sequence"), kFrames - 1);
    const ChildResult run = run_program({"run", film(), "--regions", "drawn.json", "--traces", "t.csv",
                                         "--stage", "speckle:radius=2,output=contrast", "--quiet"},
                                        folder_.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    std::istringstream lines(read_text(folder_ / "t.csv"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(std::to_string(kFrames - 1) + ","))
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        ASSERT_EQ(cells[3], "region " + std::to_string(compared + 1));
        const std::string at = "." + std::to_string(compared);
        EXPECT_NEAR(viewer->number("region.mean" + at), std::stod(cells[4]), 1e-9 * std::stod(cells[4]))
            << line;
        EXPECT_NEAR(viewer->number("region.std" + at), std::stod(cells[5]), 1e-9 * std::stod(cells[5]))
            << line;
        EXPECT_EQ(viewer->number("region.pixels" + at), std::stod(cells.at(14))) << line;
        ++compared;
    }
    EXPECT_EQ(compared, 6);
    EXPECT_EQ(viewer->number("region.pixels.0"), 400);
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, AHandThatIsFasterThanThePictureDrawsWhatItDrew) {
    const auto viewer = open();
    ASSERT_TRUE(tool(*viewer, "b", "Rectangle"));
    const double scale = viewer->number("image.scale"), x0 = viewer->number("image.x"),
                 y0 = viewer->number("image.y");
    std::vector<std::string> words;
    const auto go = [&](int x, int y) {
        words.insert(words.end(), {"mousemove", std::to_string(std::lround(x0 + (x + 0.5) * scale)),
                                   std::to_string(std::lround(y0 + (y + 0.5) * scale))});
    };
    for (int i = 0; i < 3; ++i) {
        go(10 + 40 * i, 20);
        words.insert(words.end(), {"mousedown", "1"});
        go(30 + 40 * i, 60);
        words.insert(words.end(), {"mouseup", "1"});
    }
    viewer->freeze(true); // all of it arrives between two frames
    desktop_->events(words);
    viewer->freeze(false);
    ASSERT_TRUE(count(*viewer, 3));
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(points(*viewer, i,
                           "rectangle " + std::to_string(10 + 40 * i) + ",20 " + std::to_string(30 + 40 * i) +
                               ",60"));
    ASSERT_TRUE(tool(*viewer, "d", "Freehand"));
    words.clear();
    for (const int right : {0, 60}) {
        go(right + 20, 70);
        words.insert(words.end(), {"mousedown", "1"});
        for (const auto& [x, y] :
             {std::pair(30, 75), std::pair(40, 90), std::pair(25, 100), std::pair(15, 85)})
            go(right + x, y);
        words.insert(words.end(), {"mouseup", "1"});
    }
    viewer->freeze(true);
    desktop_->events(words);
    viewer->freeze(false);
    EXPECT_TRUE(points(*viewer, 3, "freehand 20,70 30,75 40,90 25,100 15,85"));
    EXPECT_TRUE(points(*viewer, 4, "freehand 80,70 90,75 100,90 85,100 75,85"));
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, RegionsAreMovedReshapedCopiedDeletedAndEachIsUndone) {
    write_text(folder_ / "r.json", R"({"regions":[
{"name":"box","shape":"rectangle","points":[[20,20],[59,49]]},
{"name":"tri","shape":"polygon","points":[[90,20],[140,25],[110,70]]}]})");
    const auto viewer = open({"--regions", "r.json"});
    ASSERT_TRUE(count(*viewer, 2));
    // A press inside an unselected region moves the picture if it becomes a drag, and otherwise selects the
    // region.
    ASSERT_NO_FATAL_FAILURE(click(*viewer, 40, 35));
    ASSERT_TRUE(selected(*viewer, 0));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{40, 35}, {45, 40}, {47, 45}}));
    ASSERT_TRUE(points(*viewer, 0, "rectangle 27,30 66,59"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{66, 59}, {70, 62}, {76, 64}})); // its lower right handle
    ASSERT_TRUE(points(*viewer, 0, "rectangle 27,30 76,64"));
    ASSERT_NO_FATAL_FAILURE(
        draw(*viewer, {{140, 25}, {141, 40}, {145, 45}})); // by its outline, although not selected
    ASSERT_TRUE(points(*viewer, 1, "polygon 95,40 145,45 115,90"));
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{145, 45}, {150, 50}})); // now the corner is a handle
    ASSERT_TRUE(points(*viewer, 1, "polygon 95,40 150,50 115,90"));
    // The middle of the first side at (122.5, 45) becomes a new corner. It moves by whole pixels from its
    // start.
    ASSERT_NO_FATAL_FAILURE(draw(*viewer, {{122, 45}, {122, 35}}));
    ASSERT_TRUE(points(*viewer, 1, "polygon 95,40 123,35 150,50 115,90"));
    ASSERT_NO_FATAL_FAILURE(point(*viewer, 123, 35));
    desktop_->events({"keydown", "ctrl", "sleep", "0.3", "click", "1", "sleep", "0.3", "keyup", "ctrl"});
    ASSERT_TRUE(points(*viewer, 1, "polygon 95,40 150,50 115,90"));
    viewer->key("ctrl+d");
    ASSERT_TRUE(points(*viewer, 2, "polygon 105,50 160,60 125,100"));
    EXPECT_EQ(viewer->text("region.name.2"), "tri 2");
    EXPECT_TRUE(viewer->until([&] { return viewer->text("region.fit.2") == "clipped"; }));
    viewer->key("ctrl+c");
    viewer->key("ctrl+v");
    ASSERT_TRUE(count(*viewer, 4));
    viewer->key("Delete");
    ASSERT_TRUE(count(*viewer, 3));
    for (const int left : {4, 3, 2}) { // delete, paste, duplicate
        viewer->key("ctrl+z");
        ASSERT_TRUE(count(*viewer, left));
    }
    for (const char* before : {"polygon 95,40 123,35 150,50 115,90", "polygon 95,40 150,50 115,90",
                               "polygon 95,40 145,45 115,90", "polygon 90,20 140,25 110,70"}) {
        viewer->key("ctrl+z");
        ASSERT_TRUE(points(*viewer, 1, before));
    }
    for (const char* before : {"rectangle 27,30 66,59", "rectangle 20,20 59,49"}) {
        viewer->key("ctrl+z");
        ASSERT_TRUE(points(*viewer, 0, before));
    }
    viewer->key("ctrl+z");
    EXPECT_TRUE(viewer->until([&] { return viewer->text("status") == "There is nothing to undo."; }));
    viewer->key("ctrl+y");
    EXPECT_TRUE(points(*viewer, 0, "rectangle 27,30 66,59"));
    viewer->key("ctrl+shift+z");
    EXPECT_TRUE(points(*viewer, 0, "rectangle 27,30 76,64"));
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, WithoutAToolThePictureMovesAsBefore) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[20,20],[90,90]]}]})");
    const auto viewer = open({"--regions", "r.json"});
    viewer->key("plus");
    viewer->key("plus");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("image.x") < -100; })); // both keys
    const double x = viewer->number("image.x");
    const Rect canvas = viewer->widget("canvas");
    const double y = canvas.y + canvas.height / 2;
    const auto at = [&](double part) { return canvas.x + canvas.width * part; };
    viewer->drag({{at(0.4), y}, {at(0.45), y}, {at(0.5), y}});
    EXPECT_TRUE(viewer->until([&] { return viewer->number("image.x") > x + 20; })) << x;
    EXPECT_TRUE(points(*viewer, 0, "rectangle 20,20 90,90"));
    EXPECT_EQ(viewer->number("regions.selected"), -1) << "a drag that began inside it selects nothing";
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

TEST_F(RegionToolsTest, TheKeyboardAloneDoesAll) {
    const auto viewer = open();
    ASSERT_TRUE(tool(*viewer, "b", "Rectangle"));
    viewer->key("Return");
    ASSERT_TRUE(points(*viewer, 0, "rectangle 40,30 120,90"));
    viewer->key("Escape");
    viewer->key("shift+Left");
    ASSERT_TRUE(points(*viewer, 0, "rectangle 30,30 110,90"));
    viewer->key("Down");
    ASSERT_TRUE(points(*viewer, 0, "rectangle 30,31 110,91"));
    viewer->key("ctrl+Right");
    ASSERT_TRUE(points(*viewer, 0, "rectangle 30,31 111,91"));
    viewer->key("F2");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("region.rename") && viewer->number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", "arteriole b"}); // b draws no rectangle
    viewer->key("Return");
    ASSERT_TRUE(viewer->until([&] { return viewer->text("region.name.0") == "arteriole b"; }));
    ASSERT_TRUE(viewer->until([&] { return viewer->number("typing") == 0; }));
    viewer->key("ctrl+l");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("region.locked.0") == 1; }));
    viewer->key("Up");
    EXPECT_TRUE(
        viewer->until([&] { return viewer->text("status") == "This region is locked; Ctrl L unlocks it."; }));
    viewer->key("Delete");
    viewer->key("ctrl+d");
    ASSERT_TRUE(points(*viewer, 1, "rectangle 40,41 121,101"));
    EXPECT_EQ(viewer->text("region.points.0"), "rectangle 30,31 111,91");
    viewer->key("n");
    ASSERT_TRUE(selected(*viewer, 0));
    viewer->key("shift+n");
    ASSERT_TRUE(selected(*viewer, 1));
    viewer->key("Delete");
    ASSERT_TRUE(count(*viewer, 1));
    ASSERT_NO_FATAL_FAILURE(save_as(*viewer, "kept.json"));
    viewer->key("ctrl+l");
    viewer->key("n");
    ASSERT_TRUE(selected(*viewer, 0));
    viewer->key("ctrl+l");
    ASSERT_TRUE(viewer->until([&] { return viewer->number("region.locked.0") == 0; }));
    viewer->key("Delete");
    ASSERT_TRUE(count(*viewer, 0));
    viewer->key("ctrl+shift+o");
    ASSERT_TRUE(
        viewer->until([&] { return viewer->has_widget("regions.path") && viewer->number("typing") == 1; }));
    viewer->key("Return"); // the last written file
    ASSERT_TRUE(count(*viewer, 1));
    EXPECT_EQ(viewer->text("region.name.0"), "arteriole b");
    EXPECT_EQ(viewer->number("region.locked.0"), 1);
    EXPECT_EQ(viewer->quit(), 0) << viewer->log();
}

} // namespace specklescope::region_tools_test
