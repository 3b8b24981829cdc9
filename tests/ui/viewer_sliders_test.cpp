// Sliders without a mouse: the arrows make fine steps on the slider with the keyboard focus.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_sliders_test {

class ViewerSlidersTest : public ViewerTest {
protected:
    /// Moves down through the panel until this control has the keyboard focus.
    static bool walk_to(const Viewer& viewer, const std::string& name) {
        while (viewer.text("walk") != "panel") {
            const std::string before = viewer.text("walk");
            viewer.key("F6");
            if (!viewer.until([&] { return viewer.text("walk") != before; }))
                return false;
        }
        viewer.drawn(); // and its first item is chosen
        for (int i = 0; i < 60 && viewer.text("walk.on") != name; ++i) {
            const double before = viewer.number("walk.item");
            viewer.key("Down");
            if (!viewer.until([&] { return viewer.number("walk.item") != before; }))
                return false;
        }
        return viewer.text("walk.on") == name;
    }
};

TEST_F(ViewerSlidersTest, ArrowsMakeFineStepsAndLeaveTheFilmAlone) {
    std::string pixels;
    for (int i = 0; i < 64 * 48 * 30; ++i)
        pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
    write_text(folder_ / "film.raw", pixels);
    Viewer viewer(*desktop_, folder_,
                  with({"raw:film.raw?width=64&height=48&format=gray8&rate=20", "--no-remember", "--loop",
                        "--stage", "speckle:radius=2,exposure=10"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto chain_has = [&](const std::string& text) {
        return viewer.until([&] { return viewer.text("chain").find(text) != std::string::npos; });
    };
    ASSERT_TRUE(walk_to(viewer, "speckle.radius")) << viewer.text("walk.on");
    const double item = viewer.number("walk.item");
    for (const auto& [key, radius] : {std::pair("Right", "radius=3,"),
                                      {"shift+Right", "radius=13,"},
                                      {"shift+Right", "radius=15,"}, // the largest
                                      {"Left", "radius=14,"},
                                      {"shift+Left", "radius=4,"}}) {
        if (const std::string name = key; name.starts_with("shift+")) // held down
            desktop_->events({"keydown", "shift", "sleep", "0.3", "key", name.substr(6), "sleep", "0.3",
                              "keyup", "shift"});
        else
            viewer.key(key);
        EXPECT_TRUE(chain_has(radius)) << key << ": " << viewer.text("chain");
    }
    EXPECT_EQ(viewer.number("walk.item"), item) << "the arrows stay on the slider";
    ASSERT_TRUE(walk_to(viewer, "speckle.exposure")) << viewer.text("walk.on");
    viewer.key("Right");
    EXPECT_TRUE(chain_has("exposure=10.1,")) << viewer.text("chain");
    viewer.key("Left");
    viewer.key("Left");
    EXPECT_TRUE(chain_has("exposure=9.99,")) << viewer.text("chain");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_sliders_test
