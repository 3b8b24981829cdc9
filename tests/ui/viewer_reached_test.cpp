// Without a mouse: the control with the keyboard focus is visible, and mouse-only actions are found by name.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_reached_test {

class ViewerReachedTest : public ViewerTest {
protected:
    std::vector<std::string> film() {
        std::string pixels;
        for (int i = 0; i < 64 * 48 * 60; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[5,5],[30,30]]}]})");
        return with({"raw:film.raw?width=64&height=48&format=gray8&rate=20", "--no-remember", "--loop",
                     "--stage", "speckle:radius=2,output=contrast", "--regions", "r.json"});
    }
    static bool walk_into(const Viewer& viewer, const std::string& part) {
        for (int i = 0; i < 8 && viewer.text("walk") != part; ++i) {
            const std::string before = viewer.text("walk");
            viewer.key("F6");
            if (!viewer.until([&] { return viewer.text("walk") != before; }))
                return false;
        }
        viewer.drawn(); // and its first item is chosen
        return viewer.text("walk") == part;
    }
    static bool walk_to(const Viewer& viewer, const std::string& name, const std::string& key) {
        for (int i = 0; i < 60 && viewer.text("walk.on") != name; ++i) {
            const double before = viewer.number("walk.item");
            viewer.key(key);
            if (!viewer.until([&] { return viewer.number("walk.item") != before; }, std::chrono::seconds(5)))
                return false;
        }
        return viewer.text("walk.on") == name;
    }
    /// Fraction of the control's edges, including the pixels just outside and inside, that has the accent
    /// colour.
    double ringed(const Rect& r) {
        const Screenshot screen = shot();
        const auto accent = [&](double x, double y) {
            for (int away = -4; away <= 4; ++away)
                for (const auto& [dx, dy] : {std::pair{away, 0}, {0, away}}) {
                    const int px = static_cast<int>(x) + dx, py = static_cast<int>(y) + dy;
                    if (px < 0 || py < 0 || px >= screen.width || py >= screen.height)
                        continue;
                    const auto seen = screen.at(px, py);
                    if (std::abs(seen[0] - 66) < 12 && std::abs(seen[1] - 165) < 12 &&
                        std::abs(seen[2] - 196) < 12)
                        return 1;
                }
            return 0;
        };
        int on = 0, all = 0;
        for (double x = r.x + 6; x < r.x + r.width - 6; x += 2, all += 2)
            on += accent(x, r.y) + accent(x, r.y + r.height);
        for (double y = r.y + 6; y < r.y + r.height - 6; y += 2, all += 2)
            on += accent(r.x, y) + accent(r.x + r.width, y);
        return static_cast<double>(on) / std::max(all, 1);
    }
};

TEST_F(ViewerReachedTest, EachControlHasARingWhereTheKeyboardIs) {
    Viewer viewer(*desktop_, folder_, film());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.legend.box"); })) << viewer.log();
    for (const auto& [part, name, key] :
         {std::tuple{"film", "film.line", "Right"}, {"traces", "traces.legend.box", "Down"}}) {
        EXPECT_LT(ringed(viewer.widget(name)), 0.2) << name;
        ASSERT_TRUE(walk_into(viewer, part)) << viewer.text("walk");
        if (!walk_to(viewer, name, key)) {
            ASSERT_TRUE(walk_to(viewer, name, "Right")) << viewer.text("walk.on");
        }
        // A tooltip may cover a part of it.
        EXPECT_TRUE(viewer.until([&] { return ringed(viewer.widget(name)) > 0.6; }, std::chrono::seconds(20)))
            << name;
    }
    viewer.key("Escape");
    viewer.key("h");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("histogram.high"); }));
    ASSERT_TRUE(walk_into(viewer, "panel"));
    ASSERT_TRUE(walk_to(viewer, "histogram.low", "Down") || walk_to(viewer, "histogram.low", "Up"))
        << viewer.text("walk.on");
    EXPECT_TRUE(
        viewer.until([&] { return ringed(viewer.widget("histogram.low")) > 0.6; }, std::chrono::seconds(20)));
    EXPECT_EQ(viewer.number("automatic"), 1);
    viewer.key("Right");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("automatic") == 0; }));
    const double low = viewer.number("low"); // an automatic range would move with the film
    viewer.key("Right");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("low") > low; })) << "the arrow moves it";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

class ViewerNamedTest : public ViewerReachedTest {
protected:
    void ask(Viewer& viewer, const std::string& letters, const std::string& first) {
        viewer.key("ctrl+p");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.number("palette") == 1 && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "60", letters});
        ASSERT_TRUE(viewer.until([&] { return viewer.text("palette.first").starts_with(first); }))
            << viewer.text("palette.first");
        viewer.key("Return");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("palette") == 0; }));
    }
};

TEST_F(ViewerNamedTest, AnEventIsRenamedAndRemoved) {
    Viewer viewer(*desktop_, folder_, film());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 5; }));
    viewer.key("e");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.event.1").starts_with("event 1 @ "); }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "rename event 1", "Rename event 1 at frame "));
    ASSERT_TRUE(viewer.until(
        [&] { return viewer.has_widget("traces.event.label") && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "60", "stimulus"}); // over the selected label
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("traces.event.1").starts_with("stimulus @ "); }))
        << viewer.text("traces.event.1");
    // A click elsewhere leaves the field and applies its text; Escape discards it.
    for (const bool escape : {true, false}) {
        ASSERT_NO_FATAL_FAILURE(ask(viewer, "rename stimulus", "Rename stimulus at frame "));
        ASSERT_TRUE(viewer.until(
            [&] { return viewer.has_widget("traces.event.label") && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "60", escape ? "nothing" : "light"});
        if (escape)
            viewer.key("Escape");
        else
            viewer.click("traces.auto");
        ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("traces.event.label"); }));
        EXPECT_TRUE(viewer.until([&] {
            return viewer.text("traces.event.1").starts_with(escape ? "stimulus @ " : "light @ ");
        })) << viewer.text("traces.event.1");
    }
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "remove light", "Remove light at frame "));
    EXPECT_TRUE(viewer.until([&] { return viewer.text("traces.event.1").empty(); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerNamedTest, WhatTheProgramIsIsSaidAndClosedAgain) {
    Viewer viewer(*desktop_, folder_, film());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "about", "About Specklescope"));
    EXPECT_TRUE(viewer.until([&] { return !viewer.text("about").empty(); }));
    viewer.key("Escape");
    EXPECT_TRUE(
        viewer.until([&] { return viewer.text("about").empty() && !viewer.has_widget("keys.about"); }));
    viewer.key("2"); // keys belong to the picture again
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerNamedTest, PresetsAreSeenWhereverThePanelHasBeenScrolledTo) {
    Viewer viewer(*desktop_, folder_, film());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("h"); // far below
    ASSERT_TRUE(viewer.until(
        [&] { return viewer.number("histogram.open") == 1 && viewer.widget("chain.presets").y < 0; }));
    viewer.key("ctrl+m");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("preset.name"); }));
    const Rect name = viewer.rest("preset.name");
    EXPECT_GE(name.y, 0);
    EXPECT_LE(name.y + name.height, 800);
    EXPECT_GE(viewer.rest("chain.presets").y, 0);
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// A fixed range for one quantity does not apply to another.
TEST_F(ViewerNamedTest, AFixedRangeOfTracesGoesWithItsQuantity) {
    Viewer viewer(*desktop_, folder_, film());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 5; }));
    viewer.click("traces.auto");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.fixed") == 1; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "bypass 1", "Bypass 1."));
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.fixed") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_reached_test
