// Keys and typed words in the real window, also if they arrive faster than frames are drawn.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_keys_test {

class ViewerKeysTest : public ViewerTest {
protected:
    std::string frames_file(int frames) {
        std::string pixels;
        for (unsigned i = 0; i < 64U * 48 * static_cast<unsigned>(frames); ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        return "raw:film.raw?width=64&height=48&format=gray8&rate=20";
    }
    void open(Viewer& viewer, const std::string& source) const {
        viewer.key("o");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "60", source}); // over the selected text
        viewer.key("Return");
    }
};

TEST_F(ViewerKeysTest, TabChangesTheLayoutAndLettersStayShortcuts) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.text("layout"), "processed");
    viewer.key("Tab");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    viewer.key("Tab");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("layout") == "side_by_side"; }));
    EXPECT_EQ(viewer.number("typing"), 0);
    const std::string before = viewer.text("colormap");
    viewer.key("m");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != before; }));
    viewer.key("1");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "processed"; }));
    EXPECT_EQ(viewer.text("folder"), ".");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, TheListOfKeysGivesWayAndAHiddenHistogramOpens) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto list = [&] { return viewer.has_widget("keys.about"); };
    const auto dialog = [&](const char* key, const std::function<bool()>& there) {
        viewer.key("question");
        ASSERT_TRUE(viewer.until(list));
        viewer.key(key);
        ASSERT_TRUE(viewer.until([&] { return there() && !list(); })) << key << "\n" << viewer.log();
        viewer.key("Escape");
        ASSERT_TRUE(viewer.until([&] { return !there(); })) << key;
        EXPECT_FALSE(list()) << key;
    };
    dialog("ctrl+p", [&] { return viewer.number("palette") == 1; });
    dialog("o", [&] { return viewer.has_widget("open.text"); });
    dialog("ctrl+m", [&] { return viewer.has_widget("preset.name"); });

    viewer.key("h");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("histogram.plot"); })) << viewer.log();
    viewer.key("p");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("panel.edge"); }));
    viewer.key("h");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("panel.edge"); }));
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("histogram.plot"); })) << viewer.log();
    viewer.key("h");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("histogram.open") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, TheListOfKeysSaysWhatEachDoesInBothColumns) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("question");
    ASSERT_TRUE(viewer.until(
        [&] { return viewer.has_widget("keys.event") && viewer.widget("keys.event").x > 640 + 40; }));
    viewer.drawn();
    const auto widgets = viewer.probe()["widgets"];
    const double right = 640 + 420; // of the list, 820 wide, centred
    int rows = 0;
    for (const auto& [name, r] : widgets.items())
        if (name.starts_with("keys.")) {
            EXPECT_LE(r[0].get<double>() + r[2].get<double>(), right) << name << " is cut off";
            ++rows;
        }
    EXPECT_GT(rows, 40);
    EXPECT_GT(viewer.widget("keys.event").x, 640 + 40) << "in the second column, behind its key";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, AngleBracketsTurnTheRadiusOfTheFirstWindow) {
    Viewer viewer(
        *desktop_, folder_,
        with({frames_file(10), "--no-remember", "--stage", "background", "--stage", "speckle:radius=2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto chain_has = [&](const std::string& text) {
        return viewer.until([&] { return viewer.text("chain").find(text) != std::string::npos; });
    };
    viewer.key("greater");
    EXPECT_TRUE(chain_has("radius=3,")) << viewer.text("chain");
    viewer.key("less");
    EXPECT_TRUE(chain_has("radius=2,")) << viewer.text("chain");
    viewer.key("less");
    EXPECT_TRUE(chain_has("radius=1,")) << viewer.text("chain");
    viewer.key("less"); // the smallest
    viewer.key("greater");
    EXPECT_TRUE(chain_has("radius=2,")) << viewer.text("chain");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, EscapeAndEnterCloseTheErrorOfASource) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    for (const char* key : {"Escape", "Return"}) {
        open(viewer, "nowhere.tif");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); })) << viewer.log();
        viewer.key(key);
        EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("error.close"); })) << key;
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, ATypedNumberCountsWhereverTheFieldIsLeftFor) {
    Viewer viewer(*desktop_, folder_,
                  with({frames_file(10), "--no-remember", "--stage", "speckle:radius=2,exposure=10"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto type_into = [&](const std::string& name, const std::string& number) {
        viewer.double_click(name);
        ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << name;
        desktop_->events({"type", "--delay", "60", number}); // over the selected number
    };
    const auto chain_has = [&](const std::string& text) {
        return viewer.until([&] { return viewer.text("chain").find(text) != std::string::npos; });
    };
    type_into("speckle.radius", "7");
    desktop_->events({"mousemove", "500", "500", "sleep", "0.3", "click", "1"}); // the picture
    EXPECT_TRUE(chain_has("radius=7,")) << viewer.text("chain");
    type_into("speckle.exposure", "20");
    viewer.click("tool.open"); // drawn before the field
    EXPECT_TRUE(chain_has("exposure=20,")) << viewer.text("chain");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("open.text"); }));
    type_into("speckle.radius", "3");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 0; }));
    EXPECT_EQ(viewer.text("chain").find("radius=3,"), std::string::npos) << "Escape takes it back";
    viewer.double_click("speckle.radius");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    viewer.freeze(true); // as during a slow frame
    desktop_->events({"type", "--delay", "5", "9"});
    desktop_->events({"key", "--delay", "5", "Return"});
    viewer.freeze(false);
    EXPECT_TRUE(chain_has("radius=9,")) << viewer.text("chain");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, TapsBetweenTwoPicturesAreHeard) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const std::string before = viewer.text("colormap");
    viewer.freeze(true); // as during a slow frame
    desktop_->events({"key", "--delay", "5", "Tab", "m", "o"});
    viewer.freeze(false);
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
    viewer.freeze(true);
    desktop_->events({"type", "--delay", "5", "nowhere.tif"});
    desktop_->events({"key", "--delay", "5", "Return"});
    viewer.freeze(false);
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); })) << viewer.log();
    EXPECT_NE(viewer.log().find("nowhere.tif"), std::string::npos) << viewer.log();
    EXPECT_EQ(viewer.text("layout"), "raw");
    EXPECT_NE(viewer.text("colormap"), before);
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, WhatIsTypedRightAfterTheKeyThatOpensADialogIsForItsField) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const std::string colours = viewer.text("colormap"), layout = viewer.text("layout");
    viewer.freeze(true); // all of it arrives in one frame
    desktop_->events({"key", "--delay", "5", "o"});
    desktop_->events({"type", "--delay", "5", "max2.tif"}); // letters that are shortcuts over the picture
    desktop_->events({"key", "--delay", "5", "Return"});
    viewer.freeze(false);
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); })) << viewer.log();
    EXPECT_NE(viewer.log().find("'max2.tif'"), std::string::npos) << viewer.log();
    EXPECT_EQ(viewer.text("colormap"), colours);
    EXPECT_EQ(viewer.text("layout"), layout);
    EXPECT_EQ(viewer.number("automatic"), 1);
    viewer.key("Escape");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, SpaceAtTheEndOfAFilePlaysItAgain) {
    Viewer viewer(*desktop_, folder_, with({frames_file(100), "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }))
            << viewer.log();
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").empty(); })) << i;
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, WhatCannotBeOpenedAgainIsSaidToHaveStopped) {
    Viewer viewer(*desktop_, folder_, with({frames_file(40), "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
    std::filesystem::remove(folder_ / "film.raw");
    viewer.key("o");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    viewer.key("Return"); // the same source
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); })) << viewer.log();
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner") == "Stopped"; })) << viewer.text("banner");
    viewer.key("r");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("Nothing runs that could be recorded") != std::string::npos;
    })) << viewer.log();
    open(viewer, "synthetic");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("banner").empty(); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerKeysTest, AFixedRangeStaysWithItsPicture) {
    Viewer viewer(*desktop_, folder_,
                  with({frames_file(10), "--no-remember"}, {"--view", "low=0", "--view", "high=5"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("automatic"), 0);
    EXPECT_EQ(viewer.number("high"), 5);
    open(viewer, "synthetic:uniform");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("automatic") == 1; })) << viewer.log();
    EXPECT_NE(viewer.log().find("The fixed range 0…5 was of another source"), std::string::npos)
        << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_keys_test
