// Values that the window reports: tooltips, contrast of its themes, the panel, and the dialog that opens
// files.
#include "tests/support/datagram_camera.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/contrast.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_look_test {

class LookTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        std::string pixels;
        for (int i = 0; i < 64 * 48 * 8; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        write_text(folder_ / "regions.json", R"({"regions":[
            {"name":"vein","shape":"rectangle","points":[[8,8],[24,20]]},
            {"name":"across","shape":"line","points":[[4,22],[40,22]]}]})");
    }
    std::vector<std::string> film(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words =
            with({"raw:" + (folder_ / "film.raw") + "?width=64&height=48&format=gray8", "--no-remember",
                  "--regions", folder_ / "regions.json", "--loop"},
                 {"--view", "panel_sections=Source,Record,Stages,Regions,Display,Histogram,Messages"});
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
};

/// Waits until every control of the present drawing has a tooltip.
void expect_explained(const Viewer& viewer, const std::string& where) {
    nlohmann::json left;
    EXPECT_TRUE(viewer.until(
        [&] {
            const auto probe = viewer.probe();
            left = nlohmann::json::array();
            for (const auto& name : probe.is_object() ? probe["unexplained"] : nlohmann::json::array({"?"}))
                if (!name.get<std::string>().starts_with("menu.")) // titles and entries of menus are words
                    left.push_back(name);
            return left.empty();
        },
        std::chrono::seconds(5)))
        << where << ": without a tooltip: " << left.dump();
}

TEST_F(LookTest, EveryControlHasATooltip) {
    for (const char* layout : {"processed", "split", "blended"}) {
        Viewer viewer(*desktop_, folder_, film({"--view", std::string("layout=") + layout}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        expect_explained(viewer, layout);
        if (std::string(layout) != "processed")
            continue;
        const auto shown = [&](const char* key, const char* widget) {
            viewer.key(key);
            ASSERT_TRUE(viewer.until([&] { return viewer.has_widget(widget); })) << key;
            expect_explained(viewer, widget);
            viewer.key("Escape");
            ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget(widget); })) << key;
        };
        shown("o", "open.text");
        shown("ctrl+p", "palette.text");
        shown("question", "keys.about");
        shown("ctrl+m", "preset.name");
    }
    Viewer live(*desktop_, folder_,
                with({"synthetic", "--no-remember"},
                     {"--view", "panel_sections=Source,Record,Stages,Display,Histogram,Messages"}));
    ASSERT_TRUE(live.shows_picture()) << live.log();
    expect_explained(live, "a live source");
}

/// Measures every named control on the screen whose name begins with one of `names`. Returns their number.
int expect_contrast(const Viewer& viewer, const Screenshot& screen, const std::vector<std::string>& names,
                    const std::string& where) {
    int measured = 0;
    const auto probe = viewer.probe();
    double bar = 0, status = screen.height;
    for (const auto& [name, place] : probe["widgets"].items())
        if (name == "tool.open")
            bar = place[1].get<double>() + place[3].get<double>();
        else if (name.starts_with("status."))
            status = std::min(status, place[1].get<double>());
    for (const auto& [name, place] : probe["widgets"].items()) {
        const Rect area{place[0], place[1], place[2], place[3]};
        const bool in_panel = name.starts_with("speckle.") || name.starts_with("section.") ||
                              name.starts_with("record.") || name.starts_with("source.");
        if (in_panel && (area.y < bar || area.y + area.height > status)) // scrolled
            continue;
        const bool named = std::any_of(names.begin(), names.end(),
                                       [&, &name = name](const auto& one) { return name.starts_with(one); });
        if (!named || area.x < 0 || area.y < 0 || area.x + area.width > screen.width ||
            area.y + area.height > screen.height || name.ends_with("up") || name.ends_with("down"))
            continue;
        ++measured;
        EXPECT_GE(contrast(screen, area), 4.5) << where << ": " << name;
    }
    return measured;
}

TEST_F(LookTest, TextOfBothThemesHasContrast) {
    for (const std::string theme : {"dark", "light"}) {
        Viewer viewer(*desktop_, folder_,
                      film({"--view", "theme=" + theme, "--subject", "mouse 7", "--note", "left"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        viewer.key("space");
        EXPECT_GT(expect_contrast(viewer, at_rest(viewer),
                                  {"status.", "section.", "speckle.", "record.", "source.", "layout.",
                                   "tool.open", "snapshot", "report", "menu.", "traces.baseline",
                                   "traces.relative", "traces.event", "traces.interval", "traces.pulse",
                                   "traces.stretch", "traces.follow", "traces.auto", "traces.legend."},
                                  theme),
                  25);
        const auto state = [&](const char* key, const char* widget, const std::vector<std::string>& names,
                               int least) {
            viewer.key(key);
            ASSERT_TRUE(viewer.until([&] { return viewer.has_widget(widget); })) << key;
            (void)viewer.rest(widget); // its page has appeared
            EXPECT_GE(expect_contrast(viewer, shot(), names, theme + ", " + key), least) << key;
            viewer.key("Escape");
            ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget(widget); })) << key;
        };
        state("F10", "menu.open", {"menu.open", "menu.quit", "menu.snapshot", "menu.report"}, 4);
        viewer.key("e"); // a message names the event
        state("F7", "message", {"message"}, 1);
        state("ctrl+p", "palette.row.0", {"palette.row.0", "palette.row.1"}, 2);
        state("ctrl+r", "report.write", {"report.write", "report.Subject", "report.Remarks"}, 3);
        viewer.key("m"); // an edit
        state("ctrl+h", "palette.row.1", {"palette.row."}, 2);
        viewer.key("ctrl+i");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.add"); }));
        viewer.click("interval.add");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.name.0"); }));
        viewer.drawn();
        EXPECT_EQ(expect_contrast(viewer, shot(), {"interval.add", "interval.name", "interval.delete"},
                                  theme + ", intervals"),
                  3);
        viewer.key("Escape");
        viewer.drawn();
        viewer.key("Escape");
        // Panel and image area are dark or light as the theme is.
        const Rect bar = viewer.widget("status.0");
        const double back = luminance(shot().at(static_cast<int>(bar.x) - 4, static_cast<int>(bar.y)));
        EXPECT_EQ(back > 0.5, theme == "light");
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(LookTest, AlarmsAndValuesOfAMonitorHaveContrastInBothThemes) {
    for (const std::string theme : {"dark", "light"}) {
        DatagramCamera camera;
        Viewer viewer(*desktop_, folder_,
                      with({camera.source(), "--trust", "--no-remember", "--monitor", "--regions",
                            folder_ / "regions.json", "--stage", "speckle:output=contrast"},
                           {"--view", "theme=" + theme}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_TRUE(viewer.until([&] { return viewer.number("automatic") == 0; }));
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("readout.1"); }));
        EXPECT_EQ(expect_contrast(viewer, shot(), {"readout.", "monitor."}, theme + ", monitor"), 4);
        camera.silent = true;
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("stale") && viewer.has_widget("alarms"); }));
        viewer.drawn();
        EXPECT_EQ(
            expect_contrast(viewer, shot(), {"readout.", "monitor.", "stale", "alarms"}, theme + ", stale"),
            8);
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(LookTest, ThePanelRemembersItsSections) {
    const std::vector<std::string> words = with({"synthetic:uniform?width=64&height=48"});
    {
        Viewer viewer(*desktop_, folder_, words);
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_FALSE(viewer.has_widget("record.raw"));
        ASSERT_TRUE(viewer.has_widget("view.layout"));
        viewer.click("section.Display");
        EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("view.layout"); }));
        viewer.click("section.Record");
        EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("record.raw"); }));
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    Viewer again(*desktop_, folder_, words);
    ASSERT_TRUE(again.shows_picture()) << again.log();
    EXPECT_TRUE(again.has_widget("record.raw"));
    EXPECT_FALSE(again.has_widget("view.layout"));
    double before = 0;
    for (const char* section :
         {"section.Source", "section.Record", "section.Stages", "section.Regions", "section.Display"}) {
        const double y = again.widget(section).y;
        EXPECT_GT(y, before) << section;
        before = y;
    }
    again.click("record.raw");
    EXPECT_TRUE(again.until([&] {
        return again.text("record.raw.text").find(" frame") != std::string::npos;
    })) << again.text("record.raw.text");
    EXPECT_EQ(again.quit(), 0) << again.log();
}

TEST_F(LookTest, APartOfANameAndEnterOpenTheFirstMatch) {
    ASSERT_TRUE(test::python(folder_, R"py(
import numpy as np
film = np.random.default_rng(3).integers(0, 4096, (5, 30, 40)).astype(np.uint16)
film[:, 0, :] = 4095
np.save("cells_a.npy", film)
np.save("other.npy", film[0])
)py")) << read_text(folder_ / "python.log");
    Viewer viewer(*desktop_, folder_, with({folder_ / "other.npy", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("o");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", folder_ / "cells_a.npy"});
    EXPECT_TRUE(viewer.until([&] { return !viewer.text("open.details").empty(); }));
    const std::string details = viewer.text("open.details");
    for (const char* fact : {"40 × 30 px", "12 bit grey", "5 frames"})
        EXPECT_NE(details.find(fact), std::string::npos) << details;
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 0; }));
    viewer.key("o");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    viewer.key("ctrl+a");
    viewer.key("BackSpace");
    desktop_->events({"type", "--delay", "40", "cells"});
    ASSERT_TRUE(viewer.until([&] {
        return viewer.has_widget("open.file.cells_a.npy") && !viewer.has_widget("open.file.other.npy");
    }));
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.text("tool.source").find("cells_a.npy") != std::string::npos;
    })) << viewer.text("tool.source");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_look_test
