// What a user does in an afternoon, by mouse and keys in one window: open a film, draw a region, take a
// baseline, mark an event, record, report; then the recording is shown again. One frame's mean is the same
// number in all of it.
#include "have_cairo.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/region_tools_fixture.hpp"

namespace specklescope {
namespace {

class Afternoon : public RegionToolsTest {
protected:
    std::vector<std::string> that_end_with(const std::string& ending) const {
        std::vector<std::string> found;
        for (const std::string& name : folder_.names())
            if (name.ends_with(ending))
                found.push_back(name);
        return found;
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
                            "traces=shown", "--view", "baseline_s=0.4", "--traces", "t.csv"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();

        // Open.
        viewer.key("o");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "40", folder_ / "session.tiff"});
        ASSERT_TRUE(viewer.until([&] { return viewer.text("open.look").starts_with("160 × 120"); }));
        viewer.key("Return");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("film.line"); })) << viewer.log();
        viewer.key("j"); // again and again
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

        // Baseline, an event.
        viewer.key("z");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.baseline.last") >= 0; })) << viewer.log();
        viewer.key("e");
        ASSERT_TRUE(viewer.until([&] { return !viewer.text("traces.event.1").empty(); })) << viewer.probe();

        // Record what is computed, for a while, with an event in it.
        viewer.key("r");
        ASSERT_TRUE(viewer.until([&] { return that_end_with("_flow.tiff").size() == 1; })) << viewer.log();
        ASSERT_TRUE(goes_on(20));
        viewer.key("e");
        ASSERT_TRUE(viewer.until([&] { return !viewer.text("traces.event.2").empty(); }));
        ASSERT_TRUE(goes_on(10));
        viewer.key("r");
        ASSERT_TRUE(viewer.until([&] { return times(viewer.log(), "Recorded ") == 1; })) << viewer.log();

        // Report of a frame that stands.
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("film.state") == "paused"; })) << viewer.probe();
#ifdef SPECKLESCOPE_HAVE_CAIRO
        viewer.key("ctrl+r");
        ASSERT_TRUE(viewer.until([&] { return times(viewer.log(), "Report saved as") == 1; }))
            << viewer.log();
#endif
        std::system(("ls -la '" + folder_.path().string() + "'").c_str());
        std::cout << viewer.probe().dump(1) << viewer.log();
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

} // namespace
} // namespace specklescope
