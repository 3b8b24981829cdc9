// A user's typical work by mouse and keys in one window: open a film, draw a region, take a baseline, mark
// an event, record, report; then open the recording. The mean of one frame is the same number in all
// outputs.
#include "have_cairo.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/region_tools_fixture.hpp"

namespace specklescope::viewer_afternoon_test {

class Afternoon : public RegionToolsTest {
protected:
    /// Files of the window: "traces_2026-11-23_11-36-50.csv".
    bool there(const std::string& what) const {
        for (const std::string& name : folder_.names())
            if (name.starts_with(what + "_"))
                return true;
        return false;
    }
    static int times(const std::string& text, const std::string& word) {
        int count = 0;
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
            ++count;
        return count;
    }
};

TEST_F(Afternoon, FromAFilmToAReportAndBack) {
    const ChildResult made = run_program({"run", "synthetic:vessels?width=160&height=120&rate=25&live=false",
                                          "--frames", "250", "--quiet", "--record-raw", "session.tiff"},
                                         folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    {
        Viewer viewer(*desktop_, folder_,
                      with({"synthetic", "--no-remember", "--stage", "speckle:radius=2,output=sfi", "--view",
                            "traces=shown", "--view", "baseline_s=0.4"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();

        // Open.
        viewer.key("o");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "40", folder_ / "session.tiff"});
        ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look").starts_with("160 × 120"); }));
        viewer.key("Return");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("film.line"); })) << viewer.log();
        viewer.key("j"); // repeatedly
        ASSERT_TRUE(viewer.until([&] { return viewer.number("film.loops") == 1; }));
        const auto goes_on = [&](double frames) {
            const double from = viewer.number("sequence");
            return viewer.until([&] { return viewer.number("sequence") >= from + frames; });
        };

        // Draw.
        ASSERT_TRUE(tool(viewer, "b", "Rectangle"));
        ASSERT_NO_FATAL_FAILURE(draw(viewer, {{40, 30}, {60, 50}, {79, 69}}));
        ASSERT_TRUE(count(viewer, 1));
        viewer.key("Escape");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("region.tool") == "Select"; }));

        viewer.key("ctrl+t");
        ASSERT_TRUE(viewer.until([&] { return there("traces"); }))
            << viewer.log() << testing::PrintToString(folder_.names());

        // Baseline, an event.
        viewer.key("z");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.baseline.last") >= 0; })) << viewer.log();
        viewer.key("e");
        ASSERT_TRUE(viewer.until([&] { return !viewer.text("traces.event.1").empty(); })) << viewer.probe();

        // Record results for a while, with an event.
        viewer.key("r");
        ASSERT_TRUE(viewer.until([&] { return there("processed"); })) << viewer.log();
        ASSERT_TRUE(goes_on(20));
        viewer.key("e");
        ASSERT_TRUE(viewer.until([&] { return !viewer.text("traces.event.2").empty(); }));
        ASSERT_TRUE(goes_on(10));
        viewer.key("r");
        ASSERT_TRUE(viewer.until([&] { return times(viewer.log(), "Recorded ") == 1; })) << viewer.log();

        // Report on a paused frame.
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("film.state") == "paused"; })) << viewer.probe();
#ifdef SPECKLESCOPE_HAVE_CAIRO
        viewer.key("ctrl+r");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
        viewer.key("ctrl+Return");
        ASSERT_TRUE(viewer.until([&] { return times(viewer.log(), "Report saved as") == 1; }))
            << viewer.log();
#endif
        viewer.key("ctrl+t");
        ASSERT_TRUE(viewer.until([&] { return times(viewer.log(), "Recorded ") == 2; })) << viewer.log();
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    // Mean of one frame: in the recorded pages, the traces, the report, and the reopened recording.
    ASSERT_TRUE(test::python(folder_, R"(
import csv, glob, json
import numpy, tifffile
flow, traces = glob.glob("processed_*.tiff"), glob.glob("traces_*.csv")
assert len(flow) == 1 and len(traces) == 1, (flow, traces)
rows = {int(row["sequence"]): row for row in csv.DictReader(l for l in open(traces[0]) if not l.startswith("#"))}
labels = [l for l in open(traces[0]) if l.startswith("# event: ") and l[9].isdigit()]
assert len(labels) == 2, labels
events, compared, first = [], 0, None
with tifffile.TiffFile(flow[0]) as file:
    for number, page in enumerate(file.pages):
        text = page.description
        about = json.loads(text[text.index("{"):])
        if number == 0:
            assert [r["points"] for r in about["regions"]] == [[[40, 30], [79, 69]]], about["regions"]
            assert about["measure"] == "flow"
        about = about.get("frame", about)
        events += about.get("events", [])
        values = page.asarray()[30:70, 40:80].astype(float)
        mean = 1 / (1 / values).mean()
        row = rows[about["sequence"]]
        assert abs(float(row["mean"]) / mean - 1) < 1e-6, (row, mean)
        first = first or (about["sequence"], float(row["mean"]))
        compared += 1
assert compared > 20 and len(events) == 1, (compared, events)
for name in glob.glob("report_*.csv"):
    said = [l for l in open(name, encoding="utf-8") if l.startswith("# Picture: number ")]
    sequence = int(said[0].split("number ")[1].split(",")[0])
    row = next(csv.DictReader(l for l in open(name, encoding="utf-8") if not l.startswith("# ")))
    assert abs(float(row["mean"]) / float(rows[sequence]["mean"]) - 1) < 1e-6, (row, rows[sequence])
json.dump({"file": flow[0], "sequence": first[0], "mean": first[1]}, open("first.json", "w"))
)")) << read_text(folder_ / "python.log");
    const auto first = nlohmann::json::parse(read_text(folder_ / "first.json"));
    Viewer again(
        *desktop_, folder_,
        with({first["file"].get<std::string>(), "--no-remember", "--loop", "--view", "traces=hidden"}));
    ASSERT_TRUE(again.shows_picture()) << again.log();
    EXPECT_EQ(again.text("chain"), "none");
    ASSERT_TRUE(count(again, 1));
    again.key("space");
    ASSERT_TRUE(again.until([&] { return again.text("film.state") == "paused"; })) << again.probe();
    again.key("ctrl+Home");
    ASSERT_TRUE(again.until([&] { return again.number("film.position") == 0; })) << again.probe();
    EXPECT_TRUE(again.until([&] {
        return std::abs(again.number("region.mean.0") / first["mean"].get<double>() - 1) < 1e-6;
    })) << again.number("region.mean.0")
        << " " << first;
    EXPECT_EQ(again.quit(), 0) << again.log();
}

} // namespace specklescope::viewer_afternoon_test
