// Small and tall windows: all items can be reached, and nothing covers areas that must stay free.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_narrow_test {

class NarrowViewerTest : public ViewerTest {
protected:
    void film() {
        std::string pixels;
        for (int i = 0; i < 160 * 120 * 4; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 160) % 150);
        write_text(folder_ / "film.raw", pixels);
    }
    std::vector<std::string> sized(int width, int height, const std::vector<std::string>& more = {}) {
        film();
        std::vector<std::string> words = {"raw:film.raw?width=160&height=120&format=gray8&rate=50",
                                          "--no-remember",
                                          "--um-per-px",
                                          "5",
                                          "--view",
                                          "width=" + std::to_string(width),
                                          "--view",
                                          "height=" + std::to_string(height)};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    static bool apart(const Rect& a, const Rect& b) {
        return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
    }
    static bool within(const Rect& inner, const Rect& outer) {
        return inner.x >= outer.x && inner.y >= outer.y &&
               inner.x + inner.width <= outer.x + outer.width + 0.5 &&
               inner.y + inner.height <= outer.y + outer.height + 0.5;
    }
};

TEST_F(NarrowViewerTest, TheNoticeOfAPauseLeavesTheScaleBarFree) {
    for (const auto& [width, height] : {std::pair{520, 760}, {800, 600}, {600, 790}, {1280, 800}}) {
        std::vector<std::string> words = sized(width, height);
        words.front() = "synthetic:uniform?width=160&height=120&live=true";
        Viewer viewer(*desktop_, folder_, words);
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] {
            return viewer.text("banner") == "Paused" && viewer.has_widget("banner") &&
                   viewer.has_widget("scale.bar");
        })) << width;
        const Rect banner = viewer.widget("banner"), bar = viewer.widget("scale.bar"),
                   canvas = viewer.widget("canvas");
        EXPECT_TRUE(apart(banner, {bar.x - 10, bar.y - 22, bar.width + 20, bar.height + 30}))
            << width << ": " << banner.x << " " << banner.y << " and " << bar.x << " " << bar.y;
        EXPECT_TRUE(within(banner, canvas)) << width;
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

/// Traces and panel shrink first; without room traces wait until they are asked for.
TEST_F(NarrowViewerTest, ThePictureKeepsItsShareNextToTracesAndPanel) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"a","shape":"rectangle","points":[[10,10],[50,50]]},
{"name":"b","shape":"ellipse","points":[[80,60],[120,90]]}]})");
    struct Case {
        int width, height;
        bool traces;
        double share;
    };
    for (const Case& one : {Case{800, 600, true, 0.33}, {640, 480, false, 0.3}, {1280, 800, true, 0.37}}) {
        SCOPED_TRACE(one.width);
        Viewer viewer(*desktop_, folder_, sized(one.width, one.height, {"--regions", "r.json"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("region.row.1"); })) << viewer.log();
        const auto share = [&] {
            const Rect canvas = viewer.rest("canvas");
            return canvas.width * canvas.height / one.width / one.height;
        };
        EXPECT_GE(share(), one.share);
        EXPECT_EQ(viewer.number("traces.shown"), one.traces ? 1 : 0);
        if (!one.traces) {
            const double before = share();
            viewer.key("t");
            ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.plot"); }));
            EXPECT_LT(share(), before);
        }
        const Rect plot = viewer.rest("traces.plot"), panel = viewer.widget("panel.edge");
        EXPECT_GE(plot.height, 40);
        EXPECT_LE(plot.x + plot.width, panel.x + panel.width);
        for (const char* button : {"traces.baseline", "traces.relative", "traces.event", "traces.interval"}) {
            const Rect r = viewer.widget(button);
            EXPECT_TRUE(within(r, {0, 0, panel.x + panel.width, static_cast<double>(one.height)})) << button;
            EXPECT_LE(r.y + r.height, plot.y) << button;
        }
        if (one.width < 1000) { // the other buttons are in a list
            viewer.click("traces.more");
            EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("traces.pulse"); }));
            viewer.key("Escape");
        }
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(NarrowViewerTest, EachLayoutIsChosenByMouseAndByKeys) {
    Viewer viewer(*desktop_, folder_, sized(520, 760));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.has_widget("layout.list"));
    for (const auto& row : {std::pair{"Split", "split"},
                            {"Blend", "blended"},
                            {"Raw", "raw"},
                            {"Both", "side_by_side"},
                            {"Processed", "processed"}}) {
        const char *const label = row.first, *const layout = row.second;
        viewer.click("layout.list");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget(std::string("layout.") + label); })) << label;
        viewer.drawn(); // the list has its position
        viewer.click(std::string("layout.") + label);
        EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == layout; })) << viewer.text("layout");
        ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget(std::string("layout.") + label); }));
    }
    // Along the tool bar to the list, and down in it.
    viewer.key("F6");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("walk") == "tools"; }));
    viewer.drawn(); // and its first item is chosen
    for (int step = 0; step < 12 && !viewer.has_widget("layout.Split"); ++step) {
        const double before = viewer.number("walk.item");
        viewer.key("Right");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("walk.item") != before; })) << step;
        if (viewer.text("walk.on") == "layout.list") {
            viewer.key("space");
            ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("layout.Split"); })) << "by Space";
        }
    }
    ASSERT_TRUE(viewer.has_widget("layout.Split"));
    for (int row = 0; row < 3; ++row) {
        viewer.key("Down");
        viewer.drawn();
    }
    viewer.key("space");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "split"; })) << viewer.text("layout");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(NarrowViewerTest, OfThePlaceInAFilmAsMuchIsSaidAsHasRoom) {
    for (const auto& [width, times] : {std::pair{340, false}, {1000, true}}) {
        Viewer viewer(*desktop_, folder_, sized(width, 480, {"--view", "panel=false"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        ASSERT_TRUE(viewer.until([&] { return viewer.text("film.state") == "ended"; })) << viewer.log();
        EXPECT_TRUE(viewer.until([&] { return viewer.text("film.text").starts_with("Frame 3 / 3"); }))
            << viewer.text("film.text");
        EXPECT_EQ(viewer.text("film.text").find("0:00.06 / 0:00.06") != std::string::npos, times)
            << viewer.text("film.text");
        EXPECT_EQ(viewer.text("film.text").find(':') != std::string::npos, times) << viewer.text("film.text");
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(NarrowViewerTest, NoButtonLiesOnAnother) {
    for (const auto& [width, height] : {std::pair{320, 400}, {410, 400}, {480, 360}, {640, 480}, {1280, 800}})
        for (const char* scale : {"1", "2"}) {
            Viewer viewer(*desktop_, folder_,
                          sized(width, height, {"--view", std::string("ui_scale=") + scale}));
            ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
            viewer.drawn();
            const auto widgets = viewer.probe()["widgets"];
            std::vector<std::pair<std::string, Rect>> buttons;
            for (const auto& [name, r] : widgets.items())
                if (name.starts_with("tool.") || name.starts_with("layout.") ||
                    name.starts_with("region.tool."))
                    buttons.emplace_back(name, Rect{r[0], r[1], r[2], r[3]});
            EXPECT_GE(buttons.size(), 10U) << width;
            for (const auto& [name, r] : buttons) {
                EXPECT_LE(r.x + r.width, width) << name << " at " << scale;
                EXPECT_LE(r.y + r.height, height) << name << " at " << scale;
                for (const auto& [other, o] : buttons)
                    EXPECT_TRUE(name == other || apart(r, o))
                        << name << " and " << other << " in " << width << " at " << scale;
            }
            EXPECT_EQ(viewer.quit(), 0) << viewer.log();
        }
}

TEST_F(NarrowViewerTest, WhereThereIsRoomEachLayoutHasItsButton) {
    Viewer viewer(*desktop_, folder_, sized(1024, 600));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_FALSE(viewer.has_widget("layout.list"));
    for (const auto& row : {std::pair{"Split", "split"}, {"Blend", "blended"}}) {
        const char *const label = row.first, *const layout = row.second;
        viewer.click(std::string("layout.") + label);
        EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == layout; })) << viewer.text("layout");
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_narrow_test
