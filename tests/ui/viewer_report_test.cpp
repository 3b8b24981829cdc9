// By mouse and keys: a report, recordings by the tool bar's button, and opening a recording.
#include "have_cairo.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/nightly.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_report_test {

class ViewerReportTest : public ViewerTest {
protected:
    bool there(const std::string& ending) const {
        for (const std::string& name : folder_.names())
            if (name.ends_with(ending))
                return true;
        return false;
    }
};

#ifdef SPECKLESCOPE_HAVE_CAIRO
/// Only by keys.
TEST_F(ViewerReportTest, CtrlRWritesItWithBaselineAndEvent) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64", "--no-remember", "--regions", "r.json",
                        "--view", "baseline_s=0.2"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    desktop_->events({"key", "e", "sleep", "1", "key", "z", "sleep", "1", "key", "ctrl+r"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
    const auto in = [&](const std::string& field) {
        return viewer.until([&] { return viewer.text("report.field") == field; });
    };
    desktop_->events({"type", "mistyped"});
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("report.write"); }));
    viewer.key("ctrl+r");
    ASSERT_TRUE(in("Subject"));
    desktop_->events({"type", "mouse 7"});
    for (const char* field : {"Operator", "Institution", "Procedure"}) {
        viewer.key("Tab");
        ASSERT_TRUE(in(field)) << viewer.text("report.field");
    }
    viewer.key("shift+Tab");
    ASSERT_TRUE(in("Institution")) << viewer.text("report.field");
    EXPECT_FALSE(there(".pdf"));
    viewer.freeze(true); // as during a slow frame
    for (const char* text : {"clinic", "stroke", "left"}) {
        desktop_->events({"type", "--delay", "5", text});
        desktop_->events({"key", "--delay", "5", "Return"}); // to the next field; the last one: write
    }
    viewer.freeze(false);
    ASSERT_TRUE(viewer.until([&] { return viewer.log().find("Report saved as") != std::string::npos; }))
        << viewer.log();
    for (const char* ending : {".pdf", ".png", ".csv"})
        EXPECT_TRUE(there(ending)) << ending << viewer.log();
    std::string table, pdf;
    for (const std::string& name : folder_.names()) {
        table = name.ends_with(".csv") ? read_text(folder_ / name) : table;
        pdf = name.ends_with(".pdf") ? folder_ / name : pdf;
    }
    EXPECT_NE(table.find("# Event 1: "), std::string::npos) << table;
    EXPECT_NE(table.find("# Subject: mouse 7\n"), std::string::npos) << table;
    EXPECT_NE(table.find("# Institution: clinic\n"), std::string::npos) << table;
    EXPECT_NE(table.find("# Procedure: stroke\n"), std::string::npos) << table;
    EXPECT_NE(table.find("# Remarks: left\n"), std::string::npos) << table;
    const std::size_t row = table.find("\nbox,rectangle,400,");
    ASSERT_NE(row, std::string::npos) << table;
    EXPECT_FALSE(table.ends_with(",,\n")) << "baseline and change are there: " << table;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    NEEDS_AT_NIGHT("pdftotext");
    EXPECT_EQ(std::system(("pdftotext -layout '" + pdf + "' '" + (folder_ / "out.txt") + "'").c_str()), 0);
    const std::string text = read_text(folder_ / "out.txt");
    for (const char* part : {"Change from the baseline", "Events", "ΔF/F₀ %", "Baseline: "})
        EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

/// A constant scene has no change, and a change caused by an edit is not shown as a change of the scene.
TEST_F(ViewerReportTest, ABaselineEndsWithAnEdit) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64", "--no-remember", "--regions", "r.json",
                        "--view", "baseline_s=0.2", "--stage", "speckle:radius=3,output=sfi"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const auto changed = [&] { return viewer.text("traces.baseline.changed"); };
    desktop_->events({"key", "z", "sleep", "0.5", "key", "y"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("change.shown") == 1; })) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.f0.box") > 0; })) << viewer.log();
    EXPECT_EQ(changed(), "");
    viewer.key("greater");
    ASSERT_TRUE(viewer.until([&] { return changed().find("radius 3, now 4") != std::string::npos; }))
        << changed();
    EXPECT_TRUE(std::isnan(viewer.number("traces.f0.box")));
    EXPECT_TRUE(
        viewer.until([&] { return viewer.text("grey").find("radius 3, now 4") != std::string::npos; }));
    EXPECT_EQ(viewer.number("change.shown"), 0);
    desktop_->events({"key", "ctrl+r"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
    viewer.key("ctrl+Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.log().find("Report saved as") != std::string::npos; }))
        << viewer.log();
    for (const std::string& name : folder_.names())
        if (name.ends_with(".csv")) {
            const std::string table = read_text(folder_ / name);
            EXPECT_NE(table.find("# No baseline: settings changed"), std::string::npos) << table;
            EXPECT_TRUE(table.ends_with(",,\n")) << table;
        }
    viewer.key("less"); // as before
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.f0.box") > 0; }));
    EXPECT_TRUE(
        viewer.until([&] { return viewer.text("grey").empty() && viewer.number("change.shown") == 1; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Pictures, badge, table and legend belong to the same computation, also while paused.
TEST_F(ViewerReportTest, AnEditOfAPausedFilmShowsOneValue) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    const std::string scene = "synthetic:vessels?width=96&height=64&live=false";
    ASSERT_EQ(
        run_program({"run", scene, "--frames", "20", "--record-raw", "film.tiff"}, folder_.path().string())
            .status,
        0);
    for (const std::string stage :
         {"speckle:radius=3,output=contrast", "spatiotemporal:radius=1,frames=5,output=contrast"}) {
        Viewer viewer(*desktop_, folder_,
                      with({"film.tiff", "--no-remember", "--regions", "r.json", "--loop", "--rate", "20",
                            "--stage", stage}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.newest.box") > 0; })) << viewer.log();
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("banner") == "Paused"; }));
        const double before = viewer.number("traces.newest.box");
        viewer.key("greater");
        ASSERT_TRUE(viewer.until([&] {
            const double now = viewer.number("traces.newest.box"), table = viewer.number("region.mean.0");
            return now != before && (now == table || (std::isnan(now) && std::isnan(table)));
        })) << stage
            << " " << before << " " << viewer.number("traces.newest.box") << " "
            << viewer.number("region.mean.0");
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}
#endif

TEST_F(ViewerReportTest, TheToolBarRecordsWhatARightClickChose) {
    Viewer viewer(*desktop_, folder_, with({"synthetic:vessels?width=96&height=64", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect button = viewer.widget("tool.record");
    const std::string x = std::to_string(std::lround(button.x + button.width / 2)),
                      y = std::to_string(std::lround(button.y + button.height / 2));
    desktop_->events({"mousemove", x, y, "sleep", "0.4", "click", "3"});
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("tool.records.2"); }));
    viewer.click("tool.records.2");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("tool.records") == 2; }));
    viewer.click("tool.record");
    ASSERT_TRUE(viewer.until([&] {
        int tiffs = 0;
        for (const std::string& name : folder_.names())
            tiffs += name.ends_with(".tiff") ? 1 : 0;
        return tiffs == 2;
    })) << viewer.log();
    viewer.click("tool.record");
    EXPECT_TRUE(viewer.until([&] {
        const std::string log = viewer.log();
        const std::size_t first = log.find("Recorded ");
        return first != std::string::npos && log.find("Recorded ", first + 1) != std::string::npos;
    })) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerReportTest, ARecordingThatIsNamedIsShownWithItsSettings) {
    const ChildResult made =
        run_program({"run", "synthetic:vessels?width=96&height=64&live=false", "--frames", "20", "--stage",
                     "temporal:frames=5", "--colormap", "magma", "--view", "low=0.125", "--view", "high=0.75",
                     "--record-raw", "raw.tiff", "--record", "k.tiff"},
                    folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    for (const auto& [name, chain] : {std::pair{"raw.tiff", "temporal"}, {"k.tiff", "none"}}) {
        Viewer viewer(*desktop_, folder_, with({name, "--no-remember"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_TRUE(viewer.text("chain").starts_with(chain)) << viewer.text("chain");
        EXPECT_EQ(viewer.text("colormap"), "magma");
        EXPECT_EQ(viewer.number("low"), 0.125);
        EXPECT_EQ(viewer.number("high"), 0.75);
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

} // namespace specklescope::viewer_report_test
