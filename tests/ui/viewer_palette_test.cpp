// The command palette, other keys, bypassed and dragged stages, presets and keyboard access to the controls,
// by real mouse and keys.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_palette_test {

class ViewerPaletteTest : public ViewerTest {
protected:
    static bool chain_has(const Viewer& viewer, const std::string& text) {
        return viewer.until([&] { return viewer.text("chain").find(text) != std::string::npos; });
    }
    void ask(Viewer& viewer, const std::string& letters, const std::string& first) {
        viewer.key("ctrl+p");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.number("palette") == 1 && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "60", letters});
        ASSERT_TRUE(viewer.until([&] { return viewer.text("palette.first") == first; }))
            << viewer.text("palette.first");
    }
};

TEST_F(ViewerPaletteTest, AFewLettersDoWhatTheyName) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember", "--stage", "speckle:radius=2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "add clahe", "CLAHE"));
    viewer.key("Return");
    EXPECT_TRUE(chain_has(viewer, "| clahe")) << viewer.text("chain");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("palette") == 0; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "bypass 1", "Bypass 1. Speckle contrast"));
    viewer.key("Return");
    EXPECT_TRUE(chain_has(viewer, "speckle:bypass=true,radius=2")) << viewer.text("chain");
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "one_to_one", "Zoom to 1:1"));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("zoom") == 1; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "loop on", "Loop on or off"));
    viewer.key("Return"); // for a live source
    EXPECT_TRUE(viewer.until([&] { return !viewer.text("palette.said").empty(); }));
    EXPECT_EQ(viewer.number("palette"), 1) << "it stays, and says why";
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("palette") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerPaletteTest, WhatIsSeenOfTwoPicturesIsFoundByName) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "layers_right", "Divider right, or higher blend threshold"));
    viewer.key("Return"); // no matches
    EXPECT_TRUE(viewer.until([&] {
        return viewer.text("palette.said") == "Neither a divider nor a blend is shown.";
    })) << viewer.text("palette.said");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("palette") == 0; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "show_split", "Show both with a divider"));
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("layout") == "split"; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "layers_right", "Divider right, or higher blend threshold"));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("split") - 0.55) < 1e-9; }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "pixel_size", "Set the pixel size in µm"));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("scale.um"); }));
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("scale.um"); }));
    ASSERT_NO_FATAL_FAILURE(ask(viewer, "histogram", "Show or hide the histogram"));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("histogram.open") == 1; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerPaletteTest, KeysOfTheUsersFileTakeThePlaceOfThoseByDefault) {
    std::filesystem::create_directories(folder_.path() / "config/specklescope");
    write_text(folder_ / "config/specklescope/keys.toml",
               "[keys]\nnext_colormap = \"Ctrl+Shift+M\"\npanel = \"m\"\npresets = \"\"\n");
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const std::string colours = viewer.text("colormap");
    ASSERT_TRUE(viewer.has_widget("view.colormap"));
    viewer.key("m");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("view.colormap"); }));
    EXPECT_EQ(viewer.text("colormap"), colours);
    viewer.key("ctrl+shift+m");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != colours; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerPaletteTest, AStageIsBypassedAndDraggedIntoAnotherPlace) {
    Viewer viewer(
        *desktop_, folder_,
        with({"synthetic", "--no-remember", "--stage", "gaussian:sigma=2", "--stage", "speckle:radius=2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.click("gaussian.bypass");
    EXPECT_TRUE(chain_has(viewer, "gaussian:bypass=true,")) << viewer.text("chain");
    viewer.click("gaussian.bypass");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("chain").find("bypass") == std::string::npos; }));
    const auto from = viewer.rest("gaussian.header"), to = viewer.rest("speckle1.header");
    const double x = from.x + from.width / 3; // left of its buttons
    const auto middle = [](const Rect& r) { return r.y + r.height / 2; };
    viewer.drag({{x, middle(from)}, {x, (middle(from) + middle(to)) / 2}, {x, middle(to)}});
    EXPECT_TRUE(viewer.until([&] { return viewer.text("chain").starts_with("speckle:"); }))
        << viewer.text("chain");
    EXPECT_TRUE(chain_has(viewer, "| gaussian:"));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerPaletteTest, APresetIsSavedComparedLoadedAndDeleted) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember", "--stage", "speckle:radius=2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("ctrl+m");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("preset.name"); }));
    viewer.click("preset.name");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "60", "mine"});
    viewer.click("preset.save");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("preset.said").starts_with("Saved as "); }))
        << viewer.text("preset.said");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("preset.name"); }));
    viewer.key("greater"); // radius 3
    ASSERT_TRUE(chain_has(viewer, "radius=3"));
    EXPECT_TRUE(viewer.until([&] { return viewer.text("preset.label") == "Preset mine · 1 changed"; }))
        << viewer.text("preset.label");
    viewer.click("chain.presets");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("preset.first") == "speckle: radius 3 → 2"; }))
        << viewer.text("preset.first");
    viewer.click("preset.load");
    EXPECT_TRUE(chain_has(viewer, "radius=2"));
    viewer.click("preset.delete");
    viewer.click("preset.delete"); // confirms
    EXPECT_TRUE(viewer.until([&] { return viewer.text("preset.said") == "Preset mine is deleted."; }))
        << viewer.text("preset.said");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerPaletteTest, ControlsAreReachedWithoutAMouseAndLettersStayCommands) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember", "--stage", "speckle:radius=2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("F6");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("walk") == "tools"; })) << viewer.text("walk");
    const std::string colours = viewer.text("colormap");
    viewer.key("m");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != colours; }));
    EXPECT_EQ(viewer.text("walk"), "tools");
    EXPECT_EQ(viewer.text("layout"), "processed");
    for (int i = 0; i < 11; ++i) { // from File over the menus, pause, record, snapshot and Processed to Raw
        const double before = viewer.number("walk.item");
        viewer.key("Right");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("walk.item") != before; })) << i;
    }
    viewer.key("space");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; })) << "a button, pressed by a key";
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("walk").empty(); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_palette_test
