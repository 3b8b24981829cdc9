// The strip below the picture in the real window, by real mouse and keys.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"
#include "ui/traces/trace_view.hpp"

#include <sstream>

namespace specklescope::traces_strip_test {

constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[60,57]]},
{"name":"disk","shape":"ellipse","points":[[70,20],[110,60]]}]})";

/// Rows of a table of traces by sequence: the mean of one region as written.
std::map<std::uint64_t, double> means_of(const std::string& text, const std::string& region) {
    std::map<std::uint64_t, double> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] < '0' || line[0] > '9')
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        if (cells.size() > 4 && cells[3] == region)
            found[std::stoull(cells[0])] = std::stod(cells[4]);
    }
    return found;
}

class TracesStrip : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        write_text(folder_ / "r.json", kRegions);
        csv_ = folder_ / "t.csv";
    }
    std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"synthetic:vessels?width=128&height=96&rate=50", "--no-remember",
                                          "--backend", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        return with(words);
    }
    std::vector<std::string> traced() {
        return arguments({"--regions", folder_ / "r.json", "--traces", csv_});
    }
    std::string csv() const { return test::read_file(csv_); }
    /// Moves the mouse to a fraction of a control, (0, 0) is its upper left corner, and sends these events
    /// there.
    static void at(const Viewer& viewer, const std::string& name, double part_x, double part_y,
                   std::vector<std::string> events) {
        const Rect r = viewer.widget(name);
        std::vector<std::string> words = {"mousemove", std::to_string(std::lround(r.x + part_x * r.width)),
                                          std::to_string(std::lround(r.y + part_y * r.height)), "sleep",
                                          "0.4"};
        words.insert(words.end(), events.begin(), events.end());
        viewer.events(words);
    }
    std::string csv_;
};

TEST_F(TracesStrip, ShowsItselfWithRegionsAndIsToggledByKeyAndButton) {
    Viewer viewer(*desktop_, folder_, traced());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.plot"); }));
    const double with_strip = viewer.widget("canvas").height;
    viewer.key("t");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.shown") == 0; }));
    EXPECT_GT(viewer.widget("canvas").height, with_strip + 100);
    viewer.click("tool.traces");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.shown") == 1; }));
    const Rect edge = viewer.widget("traces.edge"), canvas = viewer.widget("canvas");
    // Next to the picture, down to the border: no invisible item takes the mouse there.
    desktop_->events({"mousemove", "5", "5"});
    viewer.drawn();
    const Screenshot screen = shot();
    const int left = static_cast<int>(canvas.x) + 8, end = static_cast<int>(canvas.y + canvas.height);
    ASSERT_LT(left, viewer.number("image.x")) << "the picture lies there";
    EXPECT_EQ(screen.at(left, end - 2), screen.at(left, end - 20));
    const double x = edge.x + edge.width / 2, y = edge.y + edge.height / 2;
    viewer.drag({{x, y}, {x, y - 40}, {x, y - 80}});
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.widget("traces.edge").y - (edge.y - 80)) < 6; }))
        << viewer.widget("traces.edge").y << " from " << edge.y;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Live and in playback: the first frames of a temporal contrast, made of too few frames, would fill the
/// plot.
TEST_F(TracesStrip, TheRangeLeavesOutWhatWasMadeInAWarmUp) {
    const ChildResult made =
        run_program({"run", "synthetic:vessels?width=96&height=64&live=false&rate=50", "--backend", "cpu",
                     "--frames", "60", "--stage", "temporal:frames=20,output=contrast", "--regions",
                     folder_ / "r.json", "--traces", csv_, "--record", folder_ / "k.tiff"},
                    folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    std::optional<ValueSpan> settled, all;
    std::istringstream in(csv());
    int warm = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] < '0' || line[0] > '9')
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        const double mean = std::stod(cells.at(4));
        if (!std::isfinite(mean))
            continue;
        const auto take = [&](std::optional<ValueSpan>& span) {
            span = span ? ValueSpan{std::min(span->low, mean), std::max(span->high, mean)}
                        : ValueSpan{mean, mean};
        };
        take(all);
        if (cells.back() == "0")
            take(settled);
        else
            ++warm;
    }
    EXPECT_EQ(warm, 2 * 18) << "until 20 frames are there; of one there is no contrast";
    ASSERT_TRUE(settled && all);
    const ValueSpan wanted = automatic_span(settled);
    ASSERT_FALSE(wanted == automatic_span(all)) << "the test would tell nothing";
    Viewer viewer(
        *desktop_, folder_,
        with({folder_ / "k.tiff", "--no-remember", "--stage", "none", "--regions", folder_ / "r.json"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") == 60; })) << viewer.log();
    viewer.key("Home"); // the whole run
    EXPECT_TRUE(viewer.until([&] {
        return std::abs(viewer.number("traces.low") - wanted.low) < 1e-9 &&
               std::abs(viewer.number("traces.high") - wanted.high) < 1e-9;
    })) << viewer.number("traces.low")
        << "…" << viewer.number("traces.high") << ", not " << wanted.low << "…" << wanted.high;
    for (const auto& [part, sequence] : {std::pair{0.002, 0.0}, {0.5, NAN}, {0.998, 59.0}}) {
        at(viewer, "traces.plot", part, 0.5, {});
        EXPECT_TRUE(viewer.until(
            [&, wanted_one = sequence] {
                const double seen = viewer.number("traces.cursor.sequence");
                return std::isnan(wanted_one) ? seen > 0 && seen < 59 : seen == wanted_one;
            },
            std::chrono::seconds(20)))
            << viewer.number("traces.cursor.sequence") << " at " << part;
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(TracesStrip, IsAbsentWithoutRegionsAndThenSaysHowToGetThem) {
    Viewer viewer(*desktop_, folder_, arguments());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("traces.shown"), 0);
    viewer.key("t");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.shown") == 1; }));
    EXPECT_FALSE(viewer.has_widget("traces.plot"));
    viewer.key("z");
    EXPECT_TRUE(viewer.until(
        [&] { return viewer.text("status").find("There are no regions") != std::string::npos; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Zoomed, held, followed, fitted; one curve hidden.
TEST_F(TracesStrip, IsZoomedDraggedHeldAndFollowed) {
    Viewer viewer(*desktop_, folder_, traced());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 120; })) << viewer.log();
    EXPECT_EQ(viewer.text("traces.mode"), "last");
    const auto span = [&] {
        const auto values = viewer.probe()["values"];
        return values["traces.to_s"].get<double>() - values["traces.from_s"].get<double>();
    };
    EXPECT_NEAR(span(), 10, 1e-6);

    at(viewer, "traces.plot", 0.25, 0.5, {"click", "4"}); // one step of the wheel
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "held"; }));
    EXPECT_NEAR(span(), 8, 1e-6);
    const double from = viewer.number("traces.from_s"), frames = viewer.number("traces.frames");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > frames + 20; }));
    EXPECT_EQ(viewer.number("traces.from_s"), from); // fixed while the run continues

    viewer.key("End");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "last"; }));
    EXPECT_NEAR(span(), 8, 1e-6);
    viewer.key("Home");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "whole"; }));
    const Rect plot = viewer.widget("traces.plot");
    const auto x = [&](double part) { return plot.x + part * plot.width; };
    const double y = plot.y + plot.height / 2;
    viewer.drag({{x(0.3), y}, {x(0.5), y}, {x(0.6), y}});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "held"; }));
    EXPECT_LT(viewer.number("traces.from_s"), 0); // earlier moments are visible
    viewer.click("traces.follow");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "last"; }));

    at(viewer, "traces.plot", -0.04, 0.5, {"click", "4"}); // over the axis of values
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.fixed") == 1; }));
    EXPECT_EQ(viewer.text("traces.mode"), "last");
    at(viewer, "traces.plot", 0.5, 0.5, {});
    viewer.double_click();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.fixed") == 0; }));
    EXPECT_EQ(viewer.text("traces.mode"), "whole");

    viewer.click("traces.legend.disk");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.hidden.disk") == 1; }));
    EXPECT_EQ(viewer.number("traces.hidden.box"), 0);
    viewer.click("traces.legend.disk");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.hidden.disk") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// The values of the cursor and the legend equal those written for the same frame.
TEST_F(TracesStrip, TellsTheValuesThatAreWritten) {
    Viewer viewer(*desktop_, folder_, traced());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 100; })) << viewer.log();
    const auto json = viewer.probe()["values"];
    const auto newest = json["traces.newest.sequence"].get<std::uint64_t>();
    at(viewer, "traces.plot", 0.5, 0.5, {});
    viewer.key("Home");
    ASSERT_TRUE(viewer.until([&] { return !std::isnan(viewer.number("traces.cursor.sequence")); }));
    const auto cursor = viewer.probe()["values"]; // all from one drawn frame
    ASSERT_EQ(viewer.quit(), 0) << viewer.log();
    const auto found = cursor["traces.cursor.sequence"].get<std::uint64_t>();
    for (const std::string region : {"box", "disk"}) {
        const auto written = means_of(csv(), region);
        ASSERT_TRUE(written.contains(newest) && written.contains(found)) << newest << " " << found;
        EXPECT_EQ(json["traces.newest." + region].get<double>(), written.at(newest));
        EXPECT_EQ(cursor["traces.cursor." + region].get<double>(), written.at(found));
    }
}

TEST_F(TracesStrip, TakesABaselineOverTheLastSecondsAndShowsPartsOfIt) {
    Viewer viewer(*desktop_, folder_, [&] {
        auto words = traced();
        words.insert(words.end(), {"--view", "baseline_s=1"});
        return words;
    }());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 80; })) << viewer.log();
    viewer.key("space"); // a live source continues, and so do its traces
    viewer.key("space");
    viewer.key("z");
    ASSERT_TRUE(viewer.until([&] { return !std::isnan(viewer.number("traces.f0.box")); })) << viewer.log();
    const double box = viewer.number("traces.f0.box"), disk = viewer.number("traces.f0.disk");
    const double first = viewer.number("traces.baseline.first"), last = viewer.number("traces.baseline.last");
    EXPECT_GT(last - first, 30);
    EXPECT_LT(last - first, 51); // 1 s of at most 50 frames
    EXPECT_EQ(viewer.number("traces.relative"), 0);
    viewer.key("percent");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.relative") == 1; }));
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.axis").find("%") != std::string::npos; }));
    EXPECT_LT(viewer.number("traces.low"), 0);
    EXPECT_GT(viewer.number("traces.high"), 0);
    viewer.click("traces.relative");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.relative") == 0; }));
    ASSERT_EQ(viewer.quit(), 0) << viewer.log();
    // For a flow index: the mean of K², converted; recalculated from the written values.
    const std::string text = csv();
    ASSERT_NE(text.find("1/⟨1/value⟩"), std::string::npos);
    const std::vector<std::pair<std::string, double>> regions = {{"box", box}, {"disk", disk}};
    for (const auto& [name, f0] : regions) {
        double sum = 0;
        int count = 0;
        for (const auto& [sequence, mean] : means_of(text, name))
            if (static_cast<double>(sequence) >= first && static_cast<double>(sequence) <= last) {
                sum += 1 / mean;
                ++count;
            }
        ASSERT_GT(count, 30);
        EXPECT_NEAR(f0, count / sum, 1e-12 * f0) << name;
    }
}

/// The heart of the simulated scene beats 1.2 times a second.
TEST_F(TracesStrip, TellsThePulseOfTheRegionThatIsShown) {
    std::vector<std::string> words = traced();
    for (std::string& word : words)
        if (word.starts_with("synthetic:vessels?"))
            word = "synthetic:uniform?width=128&height=96&rate=50&pulse=0.5";
    words.insert(words.end(), {"--preset", "flow"});
    Viewer viewer(*desktop_, folder_, words);
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.pulse"); })) << viewer.log();
    EXPECT_EQ(viewer.text("traces.pulse.text"), "");
    viewer.click("traces.pulse");
    ASSERT_TRUE(viewer.until([&] { return !viewer.text("traces.pulse.text").empty(); })) << viewer.log();
    EXPECT_EQ(viewer.text("traces.pulse.text").rfind("box: ", 0), 0U) << viewer.text("traces.pulse.text");
    viewer.key("Home"); // the whole run, which grows
    ASSERT_TRUE(
        viewer.until([&] { return viewer.number("traces.pulse.samples") > 1000; }, std::chrono::seconds(300)))
        << viewer.log();
    EXPECT_NEAR(viewer.number("traces.pulse.hz"), 1.2, 0.05) << viewer.text("traces.pulse.text");
    viewer.click("traces.legend.box"); // hidden: the next region
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.pulse.text").rfind("disk: ", 0) == 0; }));
    viewer.click("traces.pulse");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.pulse.text").empty(); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// The window's averages around a label equal those of the command for the table written at the same time.
TEST_F(TracesStrip, TrialsOfALabelAreThoseOfTheTable) {
    std::vector<std::string> words = traced();
    words.insert(words.end(), {"--view", "trials_before=0.5", "--view", "trials_after=1"});
    Viewer viewer(*desktop_, folder_, words);
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 60; })) << viewer.log();
    viewer.key("e");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.event.1"); })) << viewer.log();
    viewer.key("Home"); // it stays visible and moves little
    viewer.click("traces.follow");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "held"; }));
    viewer.click("traces.event.1");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
    viewer.events({"type", "--delay", "60", "light"});
    viewer.key("Return");
    for (int number = 2; number <= 3; ++number) {
        const double frames = viewer.number("traces.frames");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > frames + 100; }));
        viewer.key("ctrl+1");
        ASSERT_TRUE(viewer.until(
            [&] { return viewer.text("traces.event." + std::to_string(number)).rfind("light @ ", 0) == 0; }));
    }
    viewer.click("traces.trials");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.trials.used") == 3; })) << viewer.log();
    EXPECT_EQ(viewer.number("traces.trials.points"), 76) << "1.5 s in steps of 0.02 s";
    const double before = viewer.number("traces.trials.before");
    ASSERT_EQ(viewer.quit(), 0) << viewer.log();
    const ChildResult ran = run_program(
        {"trials", csv_, "--around", "light", "--before", "0.5", "--after", "1", "--csv", "mean.csv"},
        folder_.path().string());
    ASSERT_EQ(ran.status, 0) << ran.all();
    const std::size_t at = ran.out.find("3 trials, F₀ ");
    ASSERT_NE(at, std::string::npos) << ran.out;
    const double told = std::stod(ran.out.substr(at + std::string("3 trials, F₀ ").size()));
    EXPECT_NEAR(told, before, 1e-3 * before) << "as printed, in 4 digits";
}

TEST_F(TracesStrip, EventsAreMarkedNamedRemovedAndWritten) {
    Viewer viewer(*desktop_, folder_, traced());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 60; })) << viewer.log();
    viewer.key("e");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.event.1"); })) << viewer.log();
    EXPECT_EQ(viewer.text("traces.event.1").rfind("event 1 @ ", 0), 0U);
    viewer.key("Home"); // it stays visible and moves little
    viewer.click("traces.follow");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "held"; }));
    viewer.click("traces.event.1");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
    viewer.events({"type", "--delay", "60", "light on"});
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.event.1").rfind("light on @ ", 0) == 0; }))
        << viewer.text("traces.event.1");
    viewer.key("ctrl+1"); // the same label again
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.event.2").rfind("light on @ ", 0) == 0; }));
    viewer.click("traces.event");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.event.3").rfind("event 3 @ ", 0) == 0; }));
    viewer.click("traces.event.1");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.event.remove"); }));
    viewer.click("traces.event.remove");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.event.1").empty(); }));
    const std::string second = viewer.text("traces.event.2");
    ASSERT_EQ(viewer.quit(), 0) << viewer.log();
    const std::string text = csv();
    const auto times = [&](const std::string& part) {
        int count = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
            ++count;
        return count;
    };
    EXPECT_EQ(times("\n# event: 1,"), 3) << text; // marked, renamed, removed
    EXPECT_EQ(times(",event 1\n"), 1);
    EXPECT_EQ(times(",light on\n"), 2);
    EXPECT_EQ(times("\n# event: 3,"), 1);
    // The frame named in the window was written, at the written time.
    const std::string sequence = second.substr(second.find("@ ") + 2);
    const std::size_t line = text.find("\n# event: 2," + sequence + ",");
    ASSERT_NE(line, std::string::npos) << second;
    const std::size_t begin = line + std::string("\n# event: 2,").size();
    const std::string moment =
        text.substr(begin, text.find(",light on", begin) - begin); // "sequence,capture_s"
    EXPECT_NE(text.find("\n" + moment + ","), std::string::npos) << moment;
}

} // namespace specklescope::traces_strip_test
