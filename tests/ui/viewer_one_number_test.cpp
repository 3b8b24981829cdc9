// The value of one region at one frame of another program's film: the same on the image, in the table, legend
// and curve, in the tables of window and run, and in the report. The truth is computed by numpy in float64.
#include "have_cairo.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/nightly.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <map>
#include <set>
#include <sstream>

namespace specklescope::viewer_one_number_test {

constexpr int kFrames = 40, kShown = 20;

constexpr const char* kFilm = R"py(
import json, numpy as np, tifffile
rng = np.random.default_rng(31)
light = rng.gamma(4, 900, (40, 48, 64))
light[18:] = 0.6 * light[18:] + 0.4 * 3600  # less contrast: more flow
frames = (100 + light).clip(0, 65000).astype(np.uint16)
tifffile.imwrite("film.tif", frames, imagej=True, metadata={"axes": "TYX", "finterval": 0.05})
truth = {}
for radius in 2, 3:
    side = 2 * radius + 1
    n, squares, means = side**2, [], []
    for frame in frames.astype(float) - 100:
        window = np.lib.stride_tricks.sliding_window_view(np.pad(frame, radius, mode="edge"), (side, side))
        s, q = window.sum((2, 3)), (window**2).sum((2, 3))
        squares.append(n * (n * q - s * s) / ((n - 1) * s * s))
        means.append(np.mean(squares[-6:], axis=0)[8:38, 10:41].mean())
    truth[str(radius)] = {"means": means, "f0": np.mean(means[5:15])}  # 0 to 4: the average is incomplete
json.dump(truth, open("truth.json", "w"))
)py";

struct Truth {
    std::vector<double> means;
    double f0 = 0;
    double mean() const { return means.at(kShown); }
    double change() const { return 100 * (mean() / f0 - 1); }
};

using Row = std::map<std::string, std::string>;

/// Rows of a table by the names of its columns.
std::vector<Row> rows_of(const std::string& table) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    std::istringstream in(table);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#"))
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line + ",");
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        if (names.empty()) {
            names = cells;
            continue;
        }
        Row& named = rows.emplace_back();
        for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i)
            named[names[i]] = cells[i];
    }
    return rows;
}

class ViewerOneNumberTest : public ViewerTest {
protected:
    static std::vector<std::string> asked(int radius) {
        return {"film.tif",
                "--backend",
                "cpu",
                "--stage",
                "background:black=100",
                "--stage",
                "speckle:output=contrast2,radius=" + std::to_string(radius),
                "--stage",
                "average:frames=6",
                "--regions",
                "r.json"};
    }
    void start() {
        ASSERT_TRUE(test::python(folder_, kFilm)) << read_text(folder_ / "python.log");
        const auto truth = nlohmann::json::parse(read_text(folder_ / "truth.json"));
        for (const auto& [radius, values] : truth.items())
            truth_[std::stoi(radius)] = {values["means"], values["f0"]};
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[40,37]]}]})");
        write_text(folder_ / "rest.toml", // frames 0 to 14
                   "[[interval]]\nname = \"rest\"\nfrom_s = 0.0\nto_s = 0.72\nbaseline = true\n");
        std::vector<std::string> words = asked(2);
        words.insert(words.end(), {"--config", "rest.toml", "--no-remember", "--loop"});
        viewer_ = std::make_unique<Viewer>(*desktop_, folder_, with(words));
        ASSERT_TRUE(viewer_->shows_picture()) << viewer_->log();
        viewer_->key("space");
        ASSERT_TRUE(viewer_->until([&] { return viewer_->text("film.state") == "paused"; }));
        viewer_->key("ctrl+Home");
        for (int frame = 10; frame <= kShown; frame += 10) {
            viewer_->key("shift+Right");
            ASSERT_TRUE(viewer_->until([&] { return viewer_->number("film.position") == frame; }));
        }
        viewer_->key("n"); // the badge of a selected region has its value
    }
    /// True once a printed number is `value` rounded to this many significant digits.
    bool prints(const std::string& name, double value, int digits) const {
        const double half = 0.5 * std::pow(10, std::floor(std::log10(std::abs(value))) + 1 - digits);
        return viewer_->until(
            [&] { return std::abs(number_in(viewer_->text(name)) - value) <= 1.001 * half; });
    }
    static double number_in(const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        return end == text.c_str() ? NAN : value;
    }
    /// The mean of the paused frame on the screen.
    void screen_shows(const Truth& truth) {
        viewer_->events({"mousemove", "5", "5"});
        for (const char* place : {"region.badge.box", "region.cell.box", "traces.legend.value.box"})
            EXPECT_TRUE(prints(place, truth.mean(), 4))
                << place << " " << viewer_->text(place) << " for " << truth.mean();
        for (const char* value : {"region.mean.0", "traces.newest.box"})
            EXPECT_NEAR(viewer_->number(value), truth.mean(), 1e-6 * truth.mean()) << value;
        curve_has(kShown, truth.means[kShown]);
        EXPECT_TRUE(prints("traces.legend.value.box", truth.mean(), 4)) << "at the cursor";
        viewer_->events({"mousemove", "5", "5"});
    }
    void curve_has(int frame, double mean) {
        const Rect plot = viewer_->widget("traces.plot");
        viewer_->events({"mousemove",
                         std::to_string(std::lround(
                             std::min(plot.x + plot.width * frame / (kFrames - 1), plot.x + plot.width - 2))),
                         std::to_string(std::lround(plot.y + plot.height / 2))});
        EXPECT_TRUE(viewer_->until([&] {
            return viewer_->number("traces.cursor.frame") == frame &&
                   std::abs(viewer_->number("traces.cursor.box") - mean) < 1e-6 * mean;
        })) << viewer_->number("traces.cursor.box")
            << " at " << viewer_->number("traces.cursor.frame") << ", not " << mean;
    }
    void change_is_shown(const Truth& truth) {
        viewer_->key("percent");
        EXPECT_TRUE(prints("traces.legend.value.box", truth.change(), 3))
            << viewer_->text("traces.legend.value.box") << " for " << truth.change();
        viewer_->key("percent");
    }
    /// Its controls are locked: the last thing to do.
    void monitor_shows(const Truth& truth) {
        viewer_->key("F12");
        EXPECT_TRUE(prints("readout.value.0", truth.mean(), 4)) << viewer_->text("readout.value.0");
        EXPECT_TRUE(viewer_->until([&] {
            return std::abs(number_in(viewer_->text("readout.change.0")) - truth.change()) < 0.0501;
        })) << viewer_->text("readout.change.0");
    }
    /// The file that an action of the window writes.
    std::string written(const std::string& ending, const std::vector<std::string>& keys) {
        const std::vector<std::string> before = folder_.names();
        for (const std::string& key : keys) {
            viewer_->key(key);
            viewer_->drawn();
        }
        std::string found;
        EXPECT_TRUE(viewer_->until([&] {
            for (const std::string& name : folder_.names())
                if (name.ends_with(ending) && std::find(before.begin(), before.end(), name) == before.end())
                    found = name;
            return !found.empty();
        })) << viewer_->log();
        return found;
    }
    void tables_have(const Truth& truth, int radius) {
        const std::string saved = written(".csv", {"ctrl+shift+t"});
        EXPECT_TRUE(viewer_->until([&] { return rows_of(read_text(folder_ / saved)).size() == kFrames; }));
        std::vector<std::string> words = asked(radius);
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--baseline-seconds", "0.5", "--traces", "run.csv"});
        const ChildResult run = run_program(words, folder_.path().string());
        ASSERT_EQ(run.status, 0) << run.all();
        const std::vector<Row> ours = rows_of(read_text(folder_ / saved)),
                               theirs = rows_of(read_text(folder_ / "run.csv"));
        ASSERT_EQ(ours.size(), truth.means.size());
        ASSERT_EQ(theirs.size(), truth.means.size());
        for (std::size_t i = 0; i < ours.size(); ++i) {
            const double mean = truth.means[i], change = 100 * (mean / truth.f0 - 1);
            EXPECT_EQ(ours[i].at("mean"), theirs[i].at("mean")) << i;
            for (const Row& row : {ours[i], theirs[i]}) {
                EXPECT_NEAR(number_in(row.at("mean")), mean, 1e-6 * mean) << i;
                EXPECT_NEAR(number_in(row.at("baseline")), truth.f0, 1e-6 * truth.f0) << i;
                EXPECT_NEAR(number_in(row.at("change_percent")), change, 1e-3) << i;
            }
        }
    }
    void report_has(const Truth& truth) {
#ifdef SPECKLESCOPE_HAVE_CAIRO
        const std::string pdf = written(".pdf", {"ctrl+r", "ctrl+Return"});
        const std::vector<Row> rows = rows_of(read_text(folder_ / (pdf.substr(0, pdf.size() - 4) + ".csv")));
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_NEAR(number_in(rows[0].at("mean")), truth.mean(), 1e-6 * truth.mean());
        EXPECT_NEAR(number_in(rows[0].at("baseline")), truth.f0, 1e-6 * truth.f0);
        EXPECT_NEAR(number_in(rows[0].at("change_percent")), truth.change(), 1e-4);
        if (!test::installed("pdftotext"))
            return;
        (void)std::system(
            ("pdftotext -layout '" + (folder_ / pdf) + "' '" + (folder_ / "out.txt") + "'").c_str());
        std::istringstream text(read_text(folder_ / "out.txt"));
        std::vector<std::string> cells;
        for (std::string line; std::getline(text, line) && cells.empty();)
            if (line.find(" box ") != std::string::npos && line.find(" rectangle ") != std::string::npos) {
                std::istringstream words(line);
                for (std::string word; words >> word;)
                    cells.push_back(word);
            }
        // number, name, shape, pixels, valid, infinite, undefined, saturated, mean, std, mean of map, min,
        // max
        ASSERT_EQ(cells.size(), 15U) << text.str();
        for (const auto& [cell, value] : {std::pair(8, truth.mean()), {13, truth.f0}, {14, truth.change()}})
            EXPECT_NEAR(number_in(cells[static_cast<std::size_t>(cell)]), value, 0.5e-3 * std::abs(value));
#endif
    }
    /// Measures the whole film with the present settings; then every place has the same numbers.
    void every_place_has(int radius) {
        const Truth& truth = truth_.at(radius);
        viewer_->key("shift+k");
        ASSERT_TRUE(viewer_->until([&] {
            return viewer_->number("traces.frames") == kFrames &&
                   std::abs(viewer_->number("traces.f0.box") / truth.f0 - 1) < 1e-6 &&
                   viewer_->text("summary").find("whole film") == std::string::npos; // it is not running
        })) << viewer_->number("traces.f0.box")
            << " for " << truth.f0 << viewer_->log();
        for (const int frame : {0, 3, kFrames - 1})
            curve_has(frame, truth.means.at(static_cast<std::size_t>(frame)));
        screen_shows(truth);
        change_is_shown(truth);
        tables_have(truth, radius);
        report_has(truth);
    }
    std::map<int, Truth> truth_;
    std::unique_ptr<Viewer> viewer_;
};

TEST_F(ViewerOneNumberTest, IsInEveryPlaceAlsoAfterAnEdit) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(every_place_has(2));
    for (const auto& [key, radius] : {std::pair("greater", 3), {"ctrl+z", 2}, {"ctrl+y", 3}}) {
        viewer_->key(key);
        screen_shows(truth_.at(radius));
    }
    EXPECT_TRUE(viewer_->until([&] { return std::isnan(viewer_->number("traces.f0.box")); }));
    ASSERT_NO_FATAL_FAILURE(every_place_has(3));
    monitor_shows(truth_.at(3));
    EXPECT_EQ(viewer_->quit(), 0) << viewer_->log();
}

} // namespace specklescope::viewer_one_number_test
