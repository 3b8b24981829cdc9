// From an own file to a saved answer in the real window, with the actions counted: a key, a click, a drag, or
// typed text with Enter is one each.
#include "have_cairo.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cerrno>
#include <regex>
#include <sstream>
#include <system_error>

namespace specklescope::viewer_export_test {

constexpr int kFrames = 60;

/// Rows without the time of arrival, and lines without times of processing.
std::string comparable(const std::string& table) {
    std::string kept;
    std::istringstream in(table);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("# started") || line.starts_with("# processed") || line.starts_with("# program"))
            continue;
        if (!line.empty() && line[0] >= '0' && line[0] <= '9')
            line = std::regex_replace(line, std::regex("^([^,]*,[^,]*),[^,]*"), "$1");
        kept += line + "\n";
    }
    return kept;
}

class ViewerExportTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        std::string pixels;
        for (int frame = 0; frame < kFrames; ++frame)
            for (int i = 0; i < 96 * 64; ++i)
                pixels += static_cast<char>(40 + ((i * 7919 ^ i / 96) + frame * frame * 31) % 150);
        write_text(folder_ / "film.raw", pixels);
        film_ = "raw:" + (folder_ / "film.raw") + "?width=96&height=64&format=gray8&rate=8";
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    }
    static std::vector<std::string> chain() {
        return {"--no-remember", "--backend", "cpu", "--stage", "speckle:output=contrast,radius=2"};
    }
    std::vector<std::string> start(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"synthetic:uniform?width=64&height=48"};
        const std::vector<std::string> stage = chain();
        words.insert(words.end(), stage.begin(), stage.end());
        words.insert(words.end(), more.begin(), more.end());
        return with(words);
    }
    ChildResult run(const std::string& source, const std::vector<std::string>& more) const {
        std::vector<std::string> words = {"run", source};
        for (const std::string& word : more)
            words.push_back(word);
        return run_program(words, folder_.path().string());
    }

    // Actions, counted.
    void key(const Viewer& viewer, const std::string& name) {
        viewer.key(name);
        ++actions_;
    }
    void open(const Viewer& viewer) {
        key(viewer, "ctrl+o");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "15", film_});
        viewer.key("Return");
        ++actions_;
        ASSERT_TRUE(viewer.until([&] {
            return viewer.text("tool.source").find("film.raw") != std::string::npos;
        })) << viewer.log();
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    }
    void draw_rectangle(const Viewer& viewer) {
        const double x = viewer.number("image.x"), y = viewer.number("image.y"),
                     s = viewer.number("image.scale");
        desktop_->events({"keydown", "ctrl"});
        viewer.drag({{x + 10.5 * s, y + 8.5 * s}, {x + 20 * s, y + 20 * s}, {x + 29.5 * s, y + 27.5 * s}});
        desktop_->events({"keyup", "ctrl"});
        ++actions_;
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.plot"); })) << viewer.log();
    }
    std::string file(const std::string& ending, const std::string& begin) const {
        for (const std::string& name : folder_.names())
            if (name.starts_with(begin) && name.ends_with(ending))
                return folder_ / name;
        return "";
    }
    static int count_of(const std::string& log, const std::string& text) {
        int count = 0;
        for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1))
            ++count;
        return count;
    }
    static void logged(const Viewer& viewer, const std::string& text) {
        ASSERT_TRUE(viewer.until([&] { return viewer.log().find(text) != std::string::npos; }))
            << text << " is missing in:\n"
            << viewer.log();
    }

    std::string film_;
    int actions_ = 0;
};

TEST_F(ViewerExportTest, TheTraceOfAWholeFilmIsThatOfRunInFourActions) {
    Viewer viewer(*desktop_, folder_, start());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(open(viewer));
    EXPECT_EQ(actions_, 2) << "to the first image";
    ASSERT_NO_FATAL_FAILURE(draw_rectangle(viewer));
    key(viewer, "ctrl+shift+t");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Recorded 60 frames to "));
    EXPECT_EQ(actions_, 4);
    const std::string saved = file(".csv", "traces");
    ASSERT_FALSE(saved.empty()) << viewer.log();

    viewer.key("ctrl+s");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    desktop_->events({"key", "ctrl+a", "type", "--delay", "15", folder_ / "drawn.json"});
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return std::filesystem::exists(folder_.path() / "drawn.json"); }));
    std::vector<std::string> words = chain();
    words.erase(words.begin());
    words.insert(words.end(), {"--regions", "drawn.json", "--traces", "run.csv"});
    const ChildResult made = run(film_, words);
    ASSERT_EQ(made.status, 0) << made.all();
    const std::string ours = comparable(test::read_file(saved)),
                      wanted = comparable(test::read_file(folder_ / "run.csv"));
    EXPECT_EQ(ours, wanted);
    EXPECT_EQ(std::count(ours.begin(), ours.end(), '\n') > kFrames, true);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerExportTest, AMovieOfTheChangeTakesFourActions) {
    Viewer viewer(*desktop_, folder_, start({"--view", "baseline_s=0.5"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(open(viewer));
    key(viewer, "shift+y");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Baseline of the "));
    key(viewer, "ctrl+shift+y");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Recorded 60 frames into "));
    EXPECT_EQ(actions_, 4);
    const std::string movie = file(".mkv", "change");
    ASSERT_FALSE(movie.empty()) << viewer.log();
    const ChildResult read = run(movie, {"--backend", "cpu", "--stage", "none", "--stats", "s.json"});
    ASSERT_EQ(read.status, 0) << read.all();
    const auto stats = nlohmann::json::parse(test::read_file(folder_ / "s.json"));
    EXPECT_EQ(stats["frames"]["processed"], kFrames) << stats.dump();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerExportTest, ResultsOfAWholeFilmAreThoseOfRun) {
    Viewer viewer(*desktop_, folder_, start());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(open(viewer));
    key(viewer, "ctrl+shift+e");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Recorded 60 frames into "));
    EXPECT_EQ(actions_, 3);
    key(viewer, "ctrl+shift+r");
    ASSERT_TRUE(viewer.until([&] { return count_of(viewer.log(), "Recorded 60 frames") == 2; }))
        << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    EXPECT_EQ(count_of(viewer.log(), "Recorded 60 frames"), 2) << "each once:\n" << viewer.log();
    std::vector<std::string> words = chain();
    words.erase(words.begin());
    words.insert(words.end(), {"--record", "run.tiff"});
    ASSERT_EQ(run(film_, words).status, 0);
    const auto table = [&](const std::string& path) {
        const ChildResult read = run(
            path, {"--backend", "cpu", "--stage", "none", "--regions", "r.json", "--traces", path + ".csv"});
        EXPECT_EQ(read.status, 0) << read.all();
        std::string text = comparable(test::read_file(path + ".csv"));
        return text.substr(text.find("\n0,"));
    };
    EXPECT_EQ(table(file(".tiff", "results")), table(folder_ / "run.tiff"));
}

#ifdef SPECKLESCOPE_HAVE_CAIRO
/// On a disk of its own, in a mount namespace. The test frees space on it from outside.
TEST_F(ViewerExportTest, OnAFullDiskEachExportHasOneMessageAndTheNextTryWorks) {
    const std::string disk = folder_ / "disk";
    std::filesystem::create_directory(disk);
    const std::string mount = "mount -t tmpfs -o size=16m none '" + disk + "'";
    if (wait_process(start_process({"unshare", "-rm", "sh", "-c", mount}, {}, "", folder_ / "mount.txt"),
                     std::chrono::seconds(30)) != 0)
        GTEST_SKIP() << "no disk can be mounted here without rights";
    std::vector<std::string> words = with({film_, "--regions", folder_ / "r.json", "--keep-free", "0"});
    const std::vector<std::string> stage = chain();
    words.insert(words.end(), stage.begin(), stage.end());
    Viewer viewer(*desktop_, folder_, words,
                  {"unshare", "-rm", "sh", "-c",
                   mount + " && cd '" + disk + "' && cat /dev/zero > filler 2>/dev/null; exec \"$@\"", "sh"});
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.plot"); })) << viewer.log();
    const std::filesystem::path inside = viewer.process() / "root" / disk.substr(1);
    const auto save = [&](const std::string& key) {
        viewer.key(key);
        if (key != "ctrl+r")
            return;
        ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
        viewer.key("ctrl+Return");
    };
    struct Export {
        const char *key, *name, *done;
    };
    const std::vector<Export> exports = {{"ctrl+shift+e", "results", "Recorded 60 frames into results"},
                                         {"ctrl+shift+t", "traces", "Recorded 60 frames to traces"},
                                         {"ctrl+shift+r", "screen", "Recorded 60 frames into screen"},
                                         {"ctrl+shift+p", "plot", "Plot saved as "},
                                         {"ctrl+r", "report", "Report saved as "}};
    const std::string full = std::generic_category().message(ENOSPC);
    int errors = 0;
    for (const Export& one : exports) {
        SCOPED_TRACE(one.name);
        save(one.key);
        ++errors;
        ASSERT_TRUE(viewer.until([&] { return count_of(viewer.log(), full) == errors; })) << viewer.log();
        viewer.drawn();
        EXPECT_EQ(count_of(viewer.log(), full), errors) << viewer.log();
        EXPECT_TRUE(viewer.has_widget("traces.plot"));
        EXPECT_TRUE(viewer.until([&] {
            const auto files = std::filesystem::directory_iterator(inside);
            return std::distance(begin(files), end(files)) == 1;
        })) << "only what fills it";
    }
    std::filesystem::remove(inside / "filler");
    for (const Export& one : exports) {
        save(one.key);
        ASSERT_NO_FATAL_FAILURE(logged(viewer, one.done));
    }
    EXPECT_EQ(count_of(viewer.log(), full), errors) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerExportTest, AReportTakesFourActionsAndThePlotIsSavedAsShown) {
    Viewer viewer(*desktop_, folder_, start({"--regions", "r.json"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(open(viewer));
    key(viewer, "ctrl+r");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; })) << viewer.log();
    key(viewer, "ctrl+Return"); // the form as it is
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Report saved as"));
    EXPECT_EQ(actions_, 4);
    viewer.key("ctrl+shift+p");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Plot saved as"));
    const std::string svg = test::read_file(file(".svg", "plot"));
    EXPECT_NE(svg.find(">K</text>"), std::string::npos) << svg.substr(0, 2000);
    EXPECT_NE(svg.find(">time, s</text>"), std::string::npos);
    EXPECT_NE(svg.find(">box</text>"), std::string::npos);
    EXPECT_TRUE(test::read_file(file(".pdf", "plot")).starts_with("%PDF"));
    EXPECT_TRUE(test::read_file(file(".png", "plot")).starts_with("\x89PNG"));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}
#endif

/// Region, baseline interval, whole film, table, plot and movie of the change.
TEST_F(ViewerExportTest, AFilmIsMeasuredWithoutAMouse) {
    Viewer viewer(*desktop_, folder_, start());
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_NO_FATAL_FAILURE(open(viewer));
    viewer.key("b");
    viewer.key("Return"); // in the middle
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("traces.plot"); })) << viewer.log();
    viewer.key("ctrl+i");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("interval.add"); }));
    viewer.key("space");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.number("intervals") == 1 && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "20", "rest"});
    for (const char* end : {"0.5", "2"}) {
        viewer.key("Tab");
        desktop_->events({"type", "--delay", "20", end});
    }
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.text("interval.0.text") == "rest · F₀" && viewer.number("interval.0.from_s") == 0.5 &&
               viewer.number("interval.0.to_s") == 2;
    })) << viewer.number("interval.0.from_s")
        << " " << viewer.number("interval.0.to_s");
    viewer.key("Escape");
    ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("interval.add"); }));
    viewer.key("shift+k");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Processed the whole film"));
    viewer.key("ctrl+shift+t");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Recorded 60 frames to "));
    double squares = 0, frames = 0, baseline = NAN;
    std::istringstream table(test::read_file(file(".csv", "traces")));
    for (std::string line; std::getline(table, line);) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        if (line.empty() || line[0] < '0' || line[0] > '9')
            continue;
        ASSERT_EQ(cells.size(), 20U) << line;
        baseline = std::stod(cells[18]);
        if (const double at = std::stod(cells[1]); at >= 0.5 && at <= 2) {
            squares += std::pow(std::stod(cells[4]), 2);
            ++frames;
        }
    }
    EXPECT_NEAR(baseline, std::sqrt(squares / frames), 1e-6 * baseline);
    viewer.key("shift+y");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Baseline of the image taken over 13 frames"));
    viewer.key("ctrl+shift+y");
    EXPECT_TRUE(viewer.until([&] { return !file(".mkv", "change").empty(); })) << viewer.log();
#ifdef SPECKLESCOPE_HAVE_CAIRO
    viewer.key("ctrl+shift+p");
    EXPECT_NO_FATAL_FAILURE(logged(viewer, "Plot saved as"));
#endif
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Without a film the table holds the frames that the window has seen.
TEST_F(ViewerExportTest, TheTraceOfALiveSourceIsWhatWasRecordedOfIt) {
    std::vector<std::string> words = start({"--regions", "r.json", "--traces", "all.csv"});
    words[0] = "synthetic:vessels?width=96&height=64&rate=30";
    Viewer viewer(*desktop_, folder_, words);
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") > 30; }));
    viewer.key("ctrl+shift+t");
    ASSERT_NO_FATAL_FAILURE(logged(viewer, "Saved the traces of the last "));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    const auto means = [](const std::string& table, std::size_t region, std::size_t mean) {
        std::map<std::string, std::string> found;
        std::istringstream in(table);
        for (std::string line; std::getline(in, line);) {
            std::vector<std::string> cells;
            std::istringstream row(line);
            for (std::string cell; std::getline(row, cell, ',');)
                cells.push_back(cell);
            if (cells.size() > std::max(region, mean) && cells[region] == "box")
                found[cells[0] + " " + cells[1]] = cells[mean];
        }
        return found;
    };
    const auto saved = means(test::read_file(file(".csv", "traces")), 2, 3);
    const auto all = means(test::read_file(folder_ / "all.csv"), 3, 4);
    EXPECT_GT(saved.size(), 30U);
    for (const auto& [frame, mean] : saved)
        EXPECT_EQ(all.at(frame), mean) << frame;
}

TEST_F(ViewerExportTest, ThePaletteFindsTheWordsOfAUser) {
    Viewer viewer(*desktop_, folder_, start({"--regions", "r.json"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    for (const auto& [typed, found] : {std::pair{"csv", "Save trace"},
                                       {"save trace", "Save trace"},
                                       {"export", "Results of the whole film"},
                                       {"undo", "Undo"},
                                       {"recent", "synthetic"},
                                       {"settings", "Larger text"},
                                       {"help", "Find anything"}}) {
        viewer.key("ctrl+p");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.number("palette") == 1 && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "40", typed});
        EXPECT_TRUE(viewer.until([&] { return viewer.text("palette.first").starts_with(found); },
                                 std::chrono::seconds(10)))
            << typed << " finds " << viewer.text("palette.first");
        viewer.key("Escape");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("palette") == 0; }));
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_export_test
