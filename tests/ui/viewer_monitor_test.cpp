// Monitor mode: share of the picture, values, lock, range.
#include "tests/support/datagram_camera.hpp"
#include "tests/ui/contrast.hpp"
#include "tests/ui/viewer_fixture.hpp"
#include "ui/panels/monitor.hpp"

namespace specklescope::viewer_monitor_test {

constexpr const char* kRegions = R"({"regions":[
{"name":"left","shape":"rectangle","points":[[4,4],[12,19]]},
{"name":"right","shape":"rectangle","points":[[34,4],[44,19]]},
{"name":"above","shape":"rectangle","points":[[16,2],[30,8]]},
{"name":"below","shape":"rectangle","points":[[16,14],[30,21]]},
{"name":"fifth","shape":"rectangle","points":[[16,9],[30,13]]}]})";

TEST(MonitorLayout, ThePictureHasHalfOfAnyWindow) {
    for (const auto& [width, height] : {std::pair{480.0, 360.0},
                                        {800.0, 600.0},
                                        {1280.0, 800.0},
                                        {1920.0, 1080.0},
                                        {2560.0, 1440.0},
                                        {480.0, 800.0},
                                        {800.0, 1280.0},
                                        {1080.0, 1920.0},
                                        {1000.0, 1000.0}})
        for (const double scale : {0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0}) {
            const MonitorLayout l = monitor_layout(width, height, 56 * scale, 86 * scale);
            EXPECT_GE(l.canvas.width * l.canvas.height, width * height / 2) << width << "×" << height;
            double area = 0;
            for (const Rect& part : {l.bar, l.canvas, l.color_bar, l.readouts}) {
                EXPECT_GE(part.x, 0);
                EXPECT_GE(part.y, 0);
                EXPECT_LE(part.x + part.width, width + 1e-9);
                EXPECT_LE(part.y + part.height, height + 1e-9);
                area += part.width * part.height;
            }
            EXPECT_NEAR(area, width * height, 1e-6) << "no part lies on another";
            EXPECT_EQ(l.portrait, height > width);
        }
}

class ViewerMonitor : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        write_text(folder_ / "r.json", kRegions);
        std::filesystem::create_directories(folder_ / "config/specklescope/presets");
        write_text(folder_ / "config/specklescope/presets/bedside.toml",
                   "[view]\nmonitor = true\n[[stage]]\nname = \"speckle\"\noutput = \"contrast\"\n");
    }
    std::vector<std::string> words(const std::vector<std::string>& more = {}) {
        std::vector<std::string> all = {camera_.source(), "--trust", "--no-remember", "--regions", "r.json"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    DatagramCamera camera_;
};

TEST_F(ViewerMonitor, FourValuesAreLargeAndControlsAreLocked) {
    Viewer viewer(*desktop_, folder_, with(words({"--preset", "bedside"})));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("readouts") == 4; })) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.number("automatic") == 0; })) << "fixed after two seconds";
    for (int i = 0; i < 4; ++i) {
        const std::string id = std::to_string(i);
        EXPECT_TRUE(viewer.until([&] {
            return viewer.text("readout.value." + id).find('.') != std::string::npos;
        })) << viewer.text("readout.value." + id);
        EXPECT_GT(viewer.number("readout.samples." + id), 1);
        EXPECT_GE(contrast(shot(), viewer.rest("readout." + id)), 4.5);
    }
    // Locked: neither keys nor the mouse change anything.
    EXPECT_EQ(viewer.number("monitor.locked"), 1);
    const std::string tool = viewer.text("region.tool"), colours = viewer.text("colormap");
    for (const char* key : {"a", "m", "b", "F12"})
        viewer.key(key);
    viewer.drawn();
    EXPECT_EQ(viewer.number("automatic"), 0);
    EXPECT_EQ(viewer.text("region.tool"), tool);
    EXPECT_EQ(viewer.text("colormap"), colours);
    EXPECT_EQ(viewer.number("monitor.locked"), 1);
    EXPECT_FALSE(viewer.has_widget("monitor.leave"));
    for (const char* button : {"monitor.lock", "monitor.messages"}) {
        const Rect r = viewer.widget(button);
        EXPECT_GE(r.width, 44) << button;
        EXPECT_GE(r.height, 44) << button;
    }
    viewer.key("F6"); // without a mouse: to the bar, and the key is held
    ASSERT_TRUE(viewer.until([&] { return viewer.number("walk.item") != 0; }));
    viewer.events({"keydown", "space", "sleep", "2"});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("monitor.locked") == 0; }));
    viewer.events({"keyup", "space"});
    viewer.drawn();
    viewer.key("space"); // locks
    EXPECT_TRUE(viewer.until([&] { return viewer.number("monitor.locked") == 1; }));
    viewer.key("Escape");
    viewer.click("monitor.lock"); // too short
    viewer.drawn();
    EXPECT_EQ(viewer.number("monitor.locked"), 1);
    viewer.point_at("monitor.lock");
    viewer.events({"mousedown", "1", "sleep", "2"});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("monitor.locked") == 0; }));
    viewer.events({"mouseup", "1"});
    viewer.drawn();
    EXPECT_EQ(viewer.number("monitor.locked"), 0);
    viewer.key("a"); // marked, and not fixed again by itself
    EXPECT_TRUE(viewer.until([&] { return viewer.number("automatic") == 1; }));
    EXPECT_GE(contrast(shot(), viewer.rest("monitor.range")), 4.5);
    viewer.click("monitor.leave");
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("tool.open"); }));
    viewer.click("status.monitor");
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("monitor.lock"); }));
    EXPECT_EQ(viewer.number("monitor.locked"), 1);
    camera_.silent = true;
    EXPECT_TRUE(viewer.until([&] { return viewer.text("readout.value.0") == "–"; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMonitor, ThePictureHasHalfOfTheWindowAtAnyTextSize) {
    for (const auto& [width, height] : {std::pair{1280, 800}, {1920, 1080}, {800, 1280}}) {
        const Desktop screen(folder_ / "log.txt", std::to_string(width) + "x" + std::to_string(height));
        ASSERT_FALSE(screen.display().empty());
        for (const char* scale : {"1", "2", "4"}) {
            Viewer viewer(
                screen, folder_,
                words({"--stage", "speckle:output=contrast", "--monitor", "--view",
                       "width=" + std::to_string(width), "--view", "height=" + std::to_string(height),
                       "--view", std::string("ui_scale=") + scale}));
            ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
            const Rect canvas = viewer.rest("canvas");
            EXPECT_GE(canvas.width * canvas.height, 0.5 * width * height)
                << width << "×" << height << " " << scale;
            if (std::string(scale) == "1") {
                EXPECT_GE(viewer.widget("readout.0").width, 150) << width << "×" << height;
                EXPECT_TRUE(viewer.has_widget("readout.3"));
            }
            EXPECT_EQ(viewer.quit(), 0) << viewer.log();
        }
    }
}

} // namespace specklescope::viewer_monitor_test
