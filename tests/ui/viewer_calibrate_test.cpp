// The dialog that calibrates a camera, compared with the command.
#include "tests/support/random.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_calibrate_test {

constexpr int kSide = 128, kFrames = 16;

/// An array of frames of a sensor with 0.4 DN per electron, a black level of 64 and 2 DN of read noise.
void write_frames(const std::string& path, double electrons) {
    std::mt19937_64 random = test::test_random(static_cast<std::uint64_t>(electrons));
    std::poisson_distribution<int> caught(std::max(electrons, 1e-9));
    std::normal_distribution<double> read(64, 2);
    std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (" + std::to_string(kFrames) +
                         ", " + std::to_string(kSide) + ", " + std::to_string(kSide) + "), }";
    header.resize(117, ' ');
    std::ofstream file(path, std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
    for (int i = 0; i < kFrames * kSide * kSide; ++i) {
        const double value = 0.4 * (electrons > 0 ? caught(random) : 0) + read(random);
        const auto sample = static_cast<std::uint16_t>(std::lround(std::max(0.0, value)));
        file.put(static_cast<char>(sample & 0xff)).put(static_cast<char>(sample >> 8));
    }
}

/// The measured values of a profile, without the files of its maps.
std::vector<std::string> values(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (line.find(" = ") != std::string::npos && line.find("_file") == std::string::npos &&
            !line.starts_with("#"))
            lines.push_back(line);
    return lines;
}

class ViewerCalibrateTest : public ViewerTest {
protected:
    /// Adds a recording by the dialog for files.
    void add(const Viewer& viewer, const std::string& list, const std::string& file, int row) {
        if (list == "lit" && row == 0) { // by keys: from the name down to the first button
            for (const char* key : {"Down", "Down", "space"}) {
                viewer.key(key);
                viewer.drawn();
            }
        } else {
            viewer.click("calibrate.add." + list);
        }
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
        viewer.key("ctrl+a");
        desktop_->events({"type", "--delay", "5", folder_ / file});
        viewer.key("Return");
        ASSERT_TRUE(viewer.until([&] {
            return !viewer.has_widget("open.text") &&
                   viewer.has_widget("calibrate." + list + "." + std::to_string(row));
        })) << viewer.log();
    }
};

TEST_F(ViewerCalibrateTest, MeasuresWhatTheCommandMeasures) {
    write_frames(folder_ / "dim.npy", 300);
    write_frames(folder_ / "bright.npy", 1500);
    write_frames(folder_ / "dark.npy", 0);
    const ChildResult made = run_program({"run", "synthetic:static?width=128&height=128&offset=64&live=false",
                                          "--frames", "16", "--record-raw", "still.tiff"},
                                         folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    const ChildResult command = run_program({"calibrate", "command.toml", "--lit", "dim.npy", "--lit",
                                             "bright.npy", "--dark", "dark.npy", "--static", "still.tiff"},
                                            folder_.path().string());
    ASSERT_EQ(command.status, 0) << command.all();

    Viewer viewer(*desktop_, folder_, with({"synthetic:vessels?width=96&height=64", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("ctrl+shift+l");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.has_widget("calibrate.name") && viewer.number("typing") == 1; }));
    viewer.key("ctrl+a");
    desktop_->events({"type", "--delay", "5", folder_ / "window.toml"});
    add(viewer, "lit", "dim.npy", 0);
    viewer.key("Return"); // one level: refused
    ASSERT_TRUE(viewer.until([&] { return !viewer.text("calibrate.error").empty(); })) << viewer.log();
    EXPECT_TRUE(std::isnan(viewer.number("calibrate.gain")));
    add(viewer, "lit", "bright.npy", 1);
    add(viewer, "dark", "dark.npy", 0);
    add(viewer, "static", "still.tiff", 0);
    EXPECT_EQ(viewer.text("calibrate.error"), "");
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("calibrate.gain") > 0; }))
        << viewer.text("calibrate.error") << viewer.log();
    EXPECT_NEAR(viewer.number("calibrate.gain"), 0.4, 0.4 * 0.02);
    EXPECT_TRUE(viewer.has_widget("calibrate.noise") && viewer.has_widget("calibrate.speckle"));
    viewer.key("Return");
    ASSERT_TRUE(viewer.until([&] { return !viewer.text("calibrate.said").empty(); }));
    EXPECT_NE(viewer.text("calibrate.said").find("window.toml"), std::string::npos);
    // The command takes the camera that a recording states, the window the one that is open.
    std::vector<std::string> here = values(read_text(folder_ / "window.toml"));
    std::vector<std::string> there = values(read_text(folder_ / "command.toml"));
    for (std::vector<std::string>* lines : {&here, &there})
        EXPECT_EQ(std::erase_if(*lines, [](const std::string& line) { return line.starts_with("camera"); }),
                  1U);
    EXPECT_EQ(here, there);
    EXPECT_EQ(here.size(), 5U);
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("calibrate.name"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_calibrate_test
