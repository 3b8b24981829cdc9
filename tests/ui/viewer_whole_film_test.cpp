// The whole film by one key in the real window, and a paused film that shows the values of a run.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <map>
#include <sstream>
#include <utility>

namespace specklescope::viewer_whole_film_test {

constexpr int kFrames = 100;

class ViewerWholeFilmTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[4,4],[30,27]]}]})");
        std::string pixels;
        for (int frame = 0; frame < kFrames; ++frame)
            for (int i = 0; i < 64 * 48; ++i)
                pixels += static_cast<char>(40 + ((i * 7919 ^ i / 64) + frame * frame * 31) % 150);
        write_text(folder_ / "film.raw", pixels);
    }
    static constexpr const char* kFilm = "raw:film.raw?width=64&height=48&format=gray8&rate=20";
    static std::vector<std::string> chain(int radius) {
        return {"--stage", "speckle:output=contrast,radius=" + std::to_string(radius), "--stage",
                "average:frames=6"};
    }
    /// The mean of the region in each frame, as a run writes it.
    std::map<std::uint64_t, double> means_of_run(int radius) {
        std::vector<std::string> words = {"run",       kFilm,    "--backend", "cpu",
                                          "--regions", "r.json", "--traces",  "t.csv"};
        const std::vector<std::string> stages = chain(radius);
        words.insert(words.end(), stages.begin(), stages.end());
        const ChildResult run = run_program(words, folder_.path().string());
        EXPECT_EQ(run.status, 0) << run.all();
        std::map<std::uint64_t, double> found;
        std::istringstream in(test::read_file(folder_ / "t.csv"));
        for (std::string line; std::getline(in, line);) {
            if (line.empty() || line[0] < '0' || line[0] > '9')
                continue;
            std::vector<std::string> cells;
            std::istringstream row(line);
            for (std::string cell; std::getline(row, cell, ',');)
                cells.push_back(cell);
            found[std::stoull(cells.at(0))] = std::stod(cells.at(4));
        }
        return found;
    }
    /// Moves the pointer to a frame on the plot of the whole film. Returns the value there.
    double value_on_curve(const Viewer& viewer, int frame) {
        const Rect plot = viewer.widget("traces.plot");
        const double x = std::min(plot.x + plot.width * frame / (kFrames - 1), plot.x + plot.width - 2);
        desktop_->events({"mousemove", std::to_string(std::lround(x)),
                          std::to_string(std::lround(plot.y + plot.height / 2))});
        EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.cursor.frame") == frame; }))
            << viewer.number("traces.cursor.frame") << " for " << frame;
        EXPECT_NEAR(viewer.number("traces.cursor.time_s"), frame / 20.0, 1e-6);
        return viewer.number("traces.cursor.box");
    }
};

TEST_F(ViewerWholeFilmTest, OneKeyGivesTheCurveOfTheFilmAndAPausedFrameHasItsValue) {
    const auto three = means_of_run(3), four = means_of_run(4);
    ASSERT_EQ(three.size(), static_cast<std::size_t>(kFrames));
    std::vector<std::string> words = {kFilm, "--no-remember", "--backend", "cpu", "--regions", "r.json"};
    const std::vector<std::string> stages = chain(3);
    words.insert(words.end(), stages.begin(), stages.end());
    Viewer viewer(*desktop_, folder_, with(words));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("film.state") == "paused"; }));
    double shown = -1; // a frame may have been on its way to the screen
    ASSERT_TRUE(viewer.until([&] {
        const double before = std::exchange(shown, viewer.number("film.position"));
        viewer.drawn();
        return shown == before;
    }));
    viewer.key("shift+k");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("traces.frames") == kFrames; })) << viewer.log();
    EXPECT_EQ(viewer.text("traces.mode"), "whole");
    EXPECT_EQ(viewer.number("traces.from_s"), 0);
    EXPECT_NEAR(viewer.number("traces.to_s"), (kFrames - 1) / 20.0, 1e-6);
    EXPECT_NEAR(viewer.number("traces.last_s"), (kFrames - 1) / 20.0, 1e-6);
    EXPECT_EQ(viewer.number("traces.marks"), 0);
    EXPECT_EQ(viewer.number("film.position"), shown) << "the image stays";
    for (const int frame : {0, 1, 37, 98, 99})
        EXPECT_EQ(value_on_curve(viewer, frame), three.at(static_cast<std::uint64_t>(frame))) << frame;

    viewer.key("ctrl+Home");
    for (int frame = 10; frame <= 50; frame += 10) {
        viewer.key("shift+Right");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") == frame; }));
    }
    ASSERT_TRUE(viewer.until([&] { return viewer.number("region.mean.0") == three.at(50); }))
        << viewer.number("region.mean.0") << " for " << three.at(50);
    viewer.key("greater"); // a larger radius, while paused
    ASSERT_TRUE(viewer.until([&] { return viewer.number("region.mean.0") == four.at(50); }))
        << viewer.number("region.mean.0") << " for " << four.at(50) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.number("traces.newest.box") == four.at(50); }));
    EXPECT_EQ(viewer.text("warmup"), "");
    EXPECT_EQ(viewer.number("film.position"), 50);
    EXPECT_EQ(value_on_curve(viewer, 50), four.at(50));
    EXPECT_EQ(value_on_curve(viewer, 60), three.at(60)) << "until it is made again";
    viewer.key("shift+k");
    EXPECT_TRUE(viewer.until([&] { return value_on_curve(viewer, 60) == four.at(60); }));
    EXPECT_EQ(viewer.number("traces.frames"), kFrames);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_whole_film_test
