// Intervals in the real window: dragged on the plot, F₀ and responses compared with the rows that `run`
// writes.
#include "tests/support/child.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cmath>
#include <sstream>

namespace specklescope::viewer_intervals_test {

struct Sample {
    double time = 0, value = 0;
};

class ViewerIntervalsTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        if (IsSkipped())
            return;
        std::string pixels;
        std::uint32_t state = 12345;
        for (int frame = 0; frame < 60; ++frame)
            for (int i = 0; i < 64 * 48; ++i) {
                state = state * 1664525U + 1013904223U;
                const unsigned spread = frame >= 30 ? 60 + static_cast<unsigned>(frame) : 40;
                pixels += static_cast<char>(60 + (state >> 24) % spread);
            }
        write_text(folder_ / "film.raw", pixels);
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[40,37]]}]})");
    }
    static std::vector<std::string> film() {
        return {"raw:film.raw?width=64&height=48&format=gray8&rate=20",
                "--backend",
                "cpu",
                "--stage",
                "speckle:radius=2,output=contrast",
                "--regions",
                "r.json"};
    }
    /// The trace as a run without a window writes it.
    std::vector<Sample> trace() const {
        std::vector<std::string> words = film();
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--traces", "t.csv"});
        const ChildResult made = run_program(words, folder_.path().string());
        EXPECT_EQ(made.status, 0) << made.all();
        std::vector<Sample> samples;
        std::istringstream in(read_text(folder_ / "t.csv"));
        for (std::string line; std::getline(in, line);) {
            std::vector<std::string> cells;
            std::istringstream row(line);
            for (std::string cell; std::getline(row, cell, ',');)
                cells.push_back(cell);
            if (cells.size() > 4 && cells[3] == "box")
                samples.push_back({std::stod(cells[1]), std::stod(cells[4])});
        }
        EXPECT_EQ(samples.size(), 60U);
        return samples;
    }
    /// Over the samples in [from, to]: of a contrast the root of the mean of its squares (docs/science.md).
    static double mean_of(const std::vector<Sample>& samples, double from, double to) {
        double sum = 0;
        int count = 0;
        for (const Sample& sample : samples)
            if (sample.time >= from && sample.time <= to) {
                sum += sample.value * sample.value;
                ++count;
            }
        return std::sqrt(sum / count);
    }
    void drag_on_plot(const Viewer& viewer, double from, double to) const {
        const Rect plot = viewer.rest("traces.plot");
        const double y = plot.y + plot.height * 0.4;
        viewer.drag({{plot.x + from * plot.width, y},
                     {plot.x + (from + to) / 2 * plot.width, y},
                     {plot.x + to * plot.width, y}});
    }
};

TEST_F(ViewerIntervalsTest, BaselineAndResponseAreThoseOfTheRowsInTheInterval) {
    const std::vector<Sample> samples = trace();
    std::vector<std::string> words = film();
    words.emplace_back("--no-remember");
    Viewer viewer(*desktop_, folder_, with(words));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
    EXPECT_FALSE(viewer.has_widget("banner")) << "the time line shows the end";
    EXPECT_FALSE(viewer.has_widget("traces.response")) << "there is no interval";
    viewer.key("Home");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("traces.mode") == "whole"; }));

    viewer.events({"keydown", "shift", "sleep", "0.2"});
    drag_on_plot(viewer, 0.1, 0.4);
    viewer.events({"keyup", "shift"});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("interval.0.text") == "rest · F₀"; }));
    const auto f0 = [&] {
        return mean_of(samples, viewer.number("interval.0.from_s"), viewer.number("interval.0.to_s"));
    };
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-6 * std::abs(b); };
    EXPECT_TRUE(viewer.until([&] { return near(viewer.number("traces.f0.box"), f0()); }))
        << viewer.number("traces.f0.box") << " " << f0();
    const double length = viewer.number("interval.0.to_s") - viewer.number("interval.0.from_s");
    EXPECT_NEAR(length, 0.3 * (viewer.number("traces.to_s") - viewer.number("traces.from_s")), 0.05);

    viewer.click("traces.interval"); // the next drag makes one
    drag_on_plot(viewer, 0.5, 0.9);
    ASSERT_TRUE(viewer.until([&] { return viewer.text("interval.1.text") == "stimulus"; }));
    viewer.click("traces.response");
    const double from = viewer.number("interval.1.from_s"), to = viewer.number("interval.1.to_s");
    double peak = f0(), latency = 0, area = 0;
    const Sample* before = nullptr;
    for (const Sample& sample : samples) {
        if (sample.time < from || sample.time > to)
            continue;
        if (std::abs(sample.value - f0()) > std::abs(peak - f0())) {
            peak = sample.value;
            latency = sample.time - from;
        }
        if (before)
            area += (sample.time - before->time) * ((sample.value + before->value) / 2 - f0());
        before = &sample;
    }
    const auto shown = [&] { // interval, region, mean, peak, latency, area, frames
        std::vector<std::string> cells;
        std::istringstream text(viewer.text("response.text"));
        std::string line;
        std::getline(text, line);
        std::getline(text, line);
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, '\t');)
            cells.push_back(cell);
        cells.resize(7, "nan");
        return cells;
    };
    ASSERT_TRUE(viewer.until([&] { return shown()[0] == "stimulus"; })) << viewer.text("response.text");
    EXPECT_EQ(shown()[1], "box");
    EXPECT_NEAR(std::stod(shown()[2]), mean_of(samples, from, to), 1e-6);
    EXPECT_NEAR(std::stod(shown()[3]), peak, 1e-6);
    EXPECT_NEAR(std::stod(shown()[4]), latency, 1e-6);
    EXPECT_NEAR(std::stod(shown()[5]), area, 1e-6);

    viewer.key("ctrl+z");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("intervals") == 1; }));
    viewer.key("ctrl+z");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("intervals") == 0; }));
    viewer.key("ctrl+y");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("interval.0.text") == "rest · F₀"; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerIntervalsTest, AreDraggedOnTheTimeLineDeletedByKeyAndKeptForTheFilm) {
    {
        Viewer viewer(*desktop_, folder_, with(film()));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
        const double left = viewer.number("film.line.x"), width = viewer.number("film.line.width");
        const Rect line = viewer.rest("film.line");
        const auto drag = [&](double from, double to) {
            const double y = line.y + line.height / 2;
            viewer.drag(
                {{left + from * width, y}, {left + (from + to) / 2 * width, y}, {left + to * width, y}});
        };
        const double position = viewer.number("film.position");
        viewer.events({"keydown", "shift", "sleep", "0.2"});
        drag(0.6, 0.2); // from right to left
        viewer.events({"keyup", "shift"});
        ASSERT_TRUE(viewer.until([&] { return viewer.text("interval.0.text") == "rest · F₀"; }));
        const double px = 59 / 20.0 / width; // s
        EXPECT_NEAR(viewer.number("interval.0.from_s"), 0.2 * 59 / 20, 2 * px);
        EXPECT_NEAR(viewer.number("interval.0.to_s"), 0.6 * 59 / 20, 2 * px);
        EXPECT_EQ(viewer.number("film.position"), position) << "the film is not moved";
        viewer.click("traces.interval");
        drag(0.7, 0.9);
        ASSERT_TRUE(viewer.until([&] { return viewer.text("interval.1.text") == "stimulus"; }));
        viewer.key("Delete"); // the new one is chosen
        ASSERT_TRUE(viewer.until([&] { return viewer.number("intervals") == 1; }));
        viewer.key("ctrl+z");
        ASSERT_TRUE(viewer.until([&] { return viewer.text("interval.1.text") == "stimulus"; }));
        viewer.key("n"); // a region is selected: Delete is for that
        viewer.drawn();
        viewer.key("Delete");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("regions.count") == 0; }));
        viewer.key("ctrl+z");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("regions.count") == 1; }));
        EXPECT_EQ(viewer.number("intervals"), 2);
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    Viewer viewer(*desktop_, folder_, with({}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.text("interval.1.text") == "stimulus"; }));
    EXPECT_EQ(viewer.text("interval.0.text"), "rest · F₀");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.f0.box") > 0; })) << "F₀ is taken again";
    viewer.key("ctrl+i");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.name.1"); }));
    viewer.click("interval.name.0");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    viewer.key("Escape"); // leaves the field
    viewer.drawn();
    if (viewer.has_widget("interval.name.0"))
        viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("interval.name.0"); }));
    viewer.key("Delete"); // of the row that was edited last
    ASSERT_TRUE(viewer.until([&] { return viewer.number("intervals") == 1; }));
    EXPECT_EQ(viewer.text("interval.0.text"), "stimulus");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerIntervalsTest, EndsAndLabelsAreDraggedAndTheListTakesNumbers) {
    std::vector<std::string> words = film();
    words.emplace_back("--no-remember");
    Viewer viewer(*desktop_, folder_, with(words));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
    viewer.key("Home");
    viewer.key("ctrl+i"); // without a mouse
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.add"); }));
    viewer.click("interval.add");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.number("intervals") == 1 && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "40", "quiet"});
    const auto type_next = [&](const std::string& seconds) {
        viewer.key("Tab");
        desktop_->events({"type", "--delay", "20", seconds});
    };
    type_next("0.5");
    type_next("1.25");
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.text("interval.0.text") == "quiet · F₀" && viewer.number("interval.0.from_s") == 0.5 &&
               viewer.number("interval.0.to_s") == 1.25;
    })) << viewer.text("interval.0.text")
        << " " << viewer.number("interval.0.from_s") << " " << viewer.number("interval.0.to_s");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("interval.add"); }));

    const Rect shaded = viewer.rest("traces.interval.0");
    const double y = shaded.y + shaded.height * 0.3, right = shaded.x + shaded.width;
    viewer.drag({{right, y}, {right + 30, y}, {right + 60, y}});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("interval.0.to_s") > 1.3; }));
    EXPECT_EQ(viewer.number("interval.0.from_s"), 0.5);
    const double length = viewer.number("interval.0.to_s") - 0.5;
    const Rect label = viewer.rest("traces.interval.0.label");
    const double x = label.x + label.width / 2, low = label.y + label.height / 2;
    viewer.drag({{x, low}, {x + 20, low}, {x + 40, low}});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("interval.0.from_s") > 0.55; }));
    EXPECT_NEAR(viewer.number("interval.0.to_s") - viewer.number("interval.0.from_s"), length, 1e-6);
    viewer.double_click("traces.interval.0.label");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.delete.0"); }));
    viewer.click("interval.delete.0");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("intervals") == 0; }));
    viewer.key("Escape");
    viewer.key("ctrl+z");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("intervals") == 1; }));
    viewer.key("ctrl+i");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.name.0"); }));
    viewer.click("interval.name.0");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    type_next("2.5"); // beyond the other end, which gives way
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.number("interval.0.from_s") == 2.5 && viewer.number("interval.0.to_s") == 2.5;
    })) << viewer.number("interval.0.from_s")
        << " " << viewer.number("interval.0.to_s");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// The time line has the times of the rate: an interval there would be one of other frames.
TEST_F(ViewerIntervalsTest, OfAFilmWithAGapAreMarkedOnThePlot) {
    std::vector<std::string> words = film();
    const ChildResult made = run_program({"run", words[0], "--backend", "cpu", "--record-raw", "gap.raw"},
                                         folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    std::string later, lines = read_text(folder_ / "gap.raw.jsonl");
    std::istringstream in(lines);
    const std::string key = "\"capture_ns\":";
    for (std::string line; std::getline(in, line);) {
        const std::size_t at = line.find(key);
        const std::size_t begin = at + key.size(), end = line.find(',', begin);
        if (const std::int64_t ns = at == std::string::npos ? 0 : std::stoll(line.substr(begin, end - begin));
            ns > 1'000'000'000)
            line.replace(begin, end - begin, std::to_string(ns + 2'000'000'000));
        later += line + "\n";
    }
    write_text(folder_ / "gap.raw.jsonl", later);
    words[0] = "gap.raw";
    words.emplace_back("--no-remember");
    Viewer viewer(*desktop_, folder_, with(words));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner").starts_with("End of"); }));
    ASSERT_TRUE(viewer.text("film.text").find("≈") != std::string::npos) << viewer.text("film.text");
    const Rect line = viewer.rest("film.line");
    const double y = line.y + line.height / 2, x = viewer.number("film.line.x"),
                 width = viewer.number("film.line.width");
    viewer.events({"keydown", "shift", "sleep", "0.2"});
    viewer.drag({{x + 0.5 * width, y}, {x + 0.6 * width, y}, {x + 0.7 * width, y}});
    viewer.drawn();
    EXPECT_EQ(viewer.number("intervals"), 0);
    drag_on_plot(viewer, 0.7, 0.9);
    viewer.events({"keyup", "shift"});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("intervals") == 1; }));
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.f0.box") > 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_intervals_test
