// Two films side by side in the real window, by keys: values, time, range and zoom of both, and their end.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cstring>

namespace specklescope::viewer_compare_test {

constexpr int kFrames = 60, kWidth = 64, kHeight = 48;

class ViewerCompareTest : public ViewerTest {
protected:
    void SetUp() override {
        ViewerTest::SetUp();
        if (IsSkipped())
            return;
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[4,4],[30,27]]}]})");
        for (const auto& [name, seed] : {std::pair("a.raw", 7919), std::pair("b.raw", 5741)}) {
            std::string pixels;
            for (int frame = 0; frame < kFrames; ++frame)
                for (int i = 0; i < kWidth * kHeight; ++i)
                    pixels += static_cast<char>(40 + ((i * seed ^ i / 64) + frame * frame * 31) % 150);
            write_text(folder_ / name, pixels);
        }
    }
    static std::string film(const std::string& name, int rate) {
        return "raw:" + name + "?width=64&height=48&format=gray8&rate=" + std::to_string(rate);
    }
    static std::string stage(int radius) {
        return "speckle:output=contrast,border=reflect,radius=" + std::to_string(radius);
    }
    /// Result of every pixel and frame, as a run writes it.
    std::vector<float> results_of_run(const std::string& source, int radius) {
        const std::string name = "run" + std::to_string(++runs_) + ".raw";
        const ChildResult run =
            run_program({"run", source, "--backend", "cpu", "--stage", stage(radius), "--record", name},
                        folder_.path().string());
        EXPECT_EQ(run.status, 0) << run.all();
        const std::string bytes = test::read_file(folder_ / name);
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
        EXPECT_EQ(values.size(), std::size_t{kFrames} * kWidth * kHeight);
        return values;
    }
    static double at(const std::vector<float>& results, double frame, double x, double y) {
        return static_cast<double>(results.at(static_cast<std::size_t>((frame * kHeight + y) * kWidth + x)));
    }
    /// Mean of the region of r.json: of K², as science.md says.
    static double mean(const std::vector<float>& results, int frame) {
        double sum = 0;
        int count = 0;
        for (int y = 4; y <= 27; ++y)
            for (int x = 4; x <= 30; ++x, ++count)
                sum += std::pow(at(results, frame, x, y), 2);
        return std::sqrt(sum / count);
    }
    void open(int radius) {
        viewer_ = std::make_unique<Viewer>(*desktop_, folder_,
                                           with({film("a.raw", 20), "--loop", "--no-remember", "--backend",
                                                 "cpu", "--regions", "r.json", "--stage", stage(radius)}));
        ASSERT_TRUE(viewer_->shows_picture()) << viewer_->log();
        viewer_->key("ctrl+Home");
        viewer_->key("space");
        ASSERT_TRUE(shows("film.state", "paused")) << viewer_->log();
    }
    bool shows(const std::string& name, const std::string& text) const {
        return viewer_->until([&] { return viewer_->text(name) == text; });
    }
    /// Numbers of the panel follow the frame a moment later.
    void becomes(const std::string& name, double value) const {
        EXPECT_TRUE(viewer_->until([&] { return std::abs(viewer_->number(name) - value) < 1e-6; }))
            << name << " is " << viewer_->number(name) << ", not " << value;
    }
    bool computed(const std::string& name, const std::string& text) const {
        return viewer_->until([&] { return viewer_->text(name).find(text) != std::string::npos; });
    }
    /// Waits until both films show these frames.
    void arrive(int frame, int second) const {
        ASSERT_TRUE(viewer_->until([&] {
            return viewer_->number("film.position") == frame && viewer_->number("second.position") == second;
        })) << viewer_->number("film.position")
            << " and " << viewer_->number("second.position") << " for " << frame << " and " << second
            << viewer_->log();
    }
    /// Points into a film; both show the values of their own runs at this pixel.
    void agree(const std::vector<float>& first, const std::vector<float>& second, int frame, int second_frame,
               double part) const {
        const Rect canvas = viewer_->widget("canvas");
        viewer_->events({"mousemove", std::to_string(std::lround(canvas.x + part * canvas.width)),
                         std::to_string(std::lround(canvas.y + canvas.height / 2))});
        const auto same = [&] {
            const double x = viewer_->number("hover.x"), y = viewer_->number("hover.y");
            return x >= 0 && y >= 0 && viewer_->number("hover.value") == at(first, frame, x, y) &&
                   viewer_->number("second.value") == at(second, second_frame, x, y);
        };
        EXPECT_TRUE(viewer_->until(same))
            << viewer_->number("hover.value") << " and " << viewer_->number("second.value") << " at "
            << viewer_->number("hover.x") << ", " << viewer_->number("hover.y");
    }
    /// Range and zoom are one.
    bool linked() const {
        return viewer_->until([&] {
            const nlohmann::json values = viewer_->probe()["values"];
            return values["low"] == values["second.low"] && values["high"] == values["second.high"] &&
                   values["image.scale"] == values["second.scale"];
        });
    }
    std::size_t open_files(const std::string& name) const {
        std::size_t count = 0;
        std::error_code ignored;
        for (const auto& one : std::filesystem::directory_iterator(viewer_->process() / "fd")) {
            const std::string file = std::filesystem::read_symlink(one.path(), ignored).filename();
            count += file == name ? 1U : 0U;
        }
        return count;
    }
    std::unique_ptr<Viewer> viewer_;
    int runs_ = 0;
};

TEST_F(ViewerCompareTest, TwoRecordingsShowTheValuesOfTheirRunsAtTheSameTime) {
    const auto a = results_of_run(film("a.raw", 20), 2), b = results_of_run(film("b.raw", 10), 2);
    open(2);
    viewer_->key("shift+o");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->has_widget("open.text"); }));
    viewer_->events({"type", "--delay", "20", film("b.raw", 10)});
    viewer_->key("Return");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->has_widget("second.close"); })) << viewer_->log();
    viewer_->key("ctrl+Home");
    arrive(0, 0);
    agree(a, b, 0, 0, 0.2);
    viewer_->key("shift+Right");
    arrive(10, 5);
    agree(a, b, 10, 5, 0.7);
    viewer_->key("Right");
    viewer_->key("Right");
    arrive(12, 6);
    agree(a, b, 12, 6, 0.3);
    becomes("second.mean.0", mean(b, 6));
    becomes("region.mean.0", mean(a, 12));

    EXPECT_TRUE(linked());
    const double scale = viewer_->number("image.scale"), high = viewer_->number("high");
    viewer_->key("plus");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->number("image.scale") > scale; }));
    viewer_->key("braceright");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->number("high") > high; }));
    EXPECT_TRUE(linked());

    viewer_->key("greater"); // two recordings have the same settings
    ASSERT_TRUE(computed("chain", "radius=3"));
    ASSERT_TRUE(computed("second.chain", "radius=3"));
    viewer_->key("less");
    ASSERT_TRUE(computed("second.chain", "radius=2"));
    viewer_->key("space");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->number("film.position") > 30; }));
    viewer_->key("space");
    ASSERT_TRUE(viewer_->until([&] {
        const nlohmann::json values = viewer_->probe()["values"];
        return values["film.state"] != "running" && std::abs(2 * values["second.position"].get<double>() -
                                                             values["film.position"].get<double>()) <= 1;
    }));
    viewer_->key("ctrl+End");
    viewer_->key("Left"); // the last frame is between two of the other
    arrive(kFrames - 2, kFrames / 2 - 1);
    EXPECT_EQ(viewer_->quit(), 0) << viewer_->log();
}

TEST_F(ViewerCompareTest, KeptSettingsStayWhileOthersAreEditedAndTheEndReleasesTheFilm) {
    const auto two = results_of_run(film("a.raw", 20), 2), five = results_of_run(film("a.raw", 20), 5);
    open(2);
    ASSERT_EQ(open_files("a.raw"), 1U);
    viewer_->key("ctrl+shift+b");
    ASSERT_TRUE(viewer_->until([&] { return viewer_->has_widget("second.close"); })) << viewer_->log();
    EXPECT_TRUE(viewer_->until([&] { return open_files("a.raw") == 2; }));
    for (int radius = 3; radius <= 5; ++radius) {
        viewer_->key("greater");
        ASSERT_TRUE(computed("chain", "radius=" + std::to_string(radius)));
    }
    ASSERT_TRUE(computed("second.chain", "radius=2"));
    viewer_->key("ctrl+Home");
    viewer_->key("shift+Right");
    arrive(10, 10);
    agree(five, two, 10, 10, 0.3);
    viewer_->key("Right");
    arrive(11, 11);
    agree(five, two, 11, 11, 0.8);
    EXPECT_TRUE(linked());
    becomes("second.mean.0", mean(two, 11));
    viewer_->key("Left");
    arrive(10, 10);

    const double scale = viewer_->number("image.scale");
    viewer_->key("ctrl+w");
    ASSERT_TRUE(viewer_->until([&] { return !viewer_->has_widget("second.close"); }));
    EXPECT_TRUE(viewer_->until([&] { return open_files("a.raw") == 1; })) << "the second film is closed";
    EXPECT_TRUE(viewer_->until([&] { return viewer_->number("image.scale") > scale; })) << "one film again";
    EXPECT_NE(viewer_->text("chain").find("radius=5"), std::string::npos);
    EXPECT_EQ(viewer_->quit(), 0) << viewer_->log();
}

} // namespace specklescope::viewer_compare_test
