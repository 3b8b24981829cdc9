// The histogram in the window: its counts, and its handles by mouse and keys.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_histogram_test {

class HistogramViewerTest : public ViewerTest {
protected:
    /// Grey, 100×100: values 0…199 equally often, and this many pixels at full scale.
    std::string picture(int saturated = 0) {
        std::string pixels(std::size_t{100} * 100, '\0');
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<char>(i < static_cast<std::size_t>(saturated) ? 255 : i % 200);
        write_text(folder_ / "one.raw", pixels);
        return "raw:one.raw?width=100&height=100&format=gray8";
    }
    std::vector<std::string> words(const std::string& source, const std::vector<std::string>& more = {}) {
        return with({source, "--no-remember", "--stage", "none", "--view", "low=50", "--view", "high=149"},
                    more);
    }
};

/// The numbers on its axis equal the image's, or it shows the common factor.
TEST_F(HistogramViewerTest, ThePowerOfTenOfItsAxisIsSaid) {
    std::string deep, shallow;
    for (int i = 0; i < 100 * 100; ++i) {
        const int value = i % 200 * 300;
        deep += static_cast<char>(value % 256);
        deep += static_cast<char>(value / 256);
        shallow += static_cast<char>(i % 200);
    }
    write_text(folder_ / "deep.raw", deep);
    write_text(folder_ / "shallow.raw", shallow);
    for (const auto& [source, power] :
         {std::pair{"raw:deep.raw?width=100&height=100&format=gray16le", "×10³"},
          {"raw:shallow.raw?width=100&height=100&format=gray8", ""}}) {
        Viewer viewer(*desktop_, folder_, with({source, "--no-remember", "--stage", "none"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        viewer.key("h");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("histogram.values") == 10000; })) << viewer.log();
        EXPECT_EQ(viewer.number("histogram.span.high") > 10000, *power != '\0');
        EXPECT_TRUE(viewer.probe()["values"].contains("histogram.power"));
        EXPECT_EQ(viewer.text("histogram.power"), power);
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
}

TEST_F(HistogramViewerTest, CountsAndItsHandlesMoveTheRange) {
    Viewer viewer(*desktop_, folder_, words(picture()));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    // 0…49 of 200 values are below, 150…199 above: the colour bar has arrows without the histogram.
    EXPECT_TRUE(viewer.until([&] { return viewer.number("beyond.below") == 0.25; }));
    EXPECT_EQ(viewer.number("beyond.above"), 0.25);
    viewer.key("h");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("histogram.plot"); })) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("histogram.values") == 10000; }));
    EXPECT_NEAR(viewer.number("histogram.median"), 100, 1);
    EXPECT_EQ(viewer.number("histogram.below"), 0.25);

    viewer.scroll_to("histogram.plot", "view.colormap");
    const Rect plot = viewer.rest("histogram.plot");
    const double low = viewer.number("histogram.span.low"), high = viewer.number("histogram.span.high");
    const auto x = [&](double value) { return plot.x + (value - low) / (high - low) * plot.width; };
    const double y = plot.y + plot.height / 2;
    // The numbers are below the axis and its tick marks.
    const Screenshot labelled = shot();
    int bright = 0;
    for (int row = 5; row < 20; ++row)
        for (int column = -20; column < static_cast<int>(plot.width); ++column) {
            const auto seen =
                labelled.at(static_cast<int>(plot.x) + column, static_cast<int>(plot.y + plot.height) + row);
            bright += seen[0] > 90 && seen[1] > 90 && seen[2] > 90 ? 1 : 0;
        }
    EXPECT_GT(bright, 30);
    viewer.drag({{x(50), y}, {x(70), y}, {x(100), y}});
    const double step = (high - low) / plot.width; // one screen pixel
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("low") - 100) <= 2 * step; }))
        << viewer.number("low");
    EXPECT_EQ(viewer.number("high"), 149);
    const double before = viewer.number("low");
    viewer.key("parenleft");
    EXPECT_TRUE(
        viewer.until([&] { return std::abs(viewer.number("low") - (before - (149 - before) / 50)) < 1e-9; }));
    const double width = 149 - viewer.number("low");
    viewer.key("braceright");
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("high") - (149 + width / 50)) < 1e-9; }))
        << viewer.number("high");
    EXPECT_EQ(viewer.number("automatic"), 0);
    viewer.key("h");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("histogram.open") == 0; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Two frames, 100 − d and 100 + d with d = 0…50 equally often: F₀ is 100, and the change −d or d %.
TEST_F(HistogramViewerTest, OfTheChangeCountsPerCentAndItsHandlesMoveBothEnds) {
    constexpr int kSide = 102;
    std::string film;
    for (const int sign : {-1, 1})
        for (int i = 0; i < kSide * kSide; ++i)
            film += static_cast<char>(100 + sign * (i % 51));
    write_text(folder_ / "film.raw", film);
    Viewer viewer(*desktop_, folder_,
                  with({"raw:film.raw?width=102&height=102&format=gray8", "--no-remember", "--stage", "none",
                        "--rate", "20", "--loop", "--view", "baseline_s=1", "--view", "change_range=10"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.key("h");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("histogram.plot"); })) << viewer.log();
    EXPECT_EQ(viewer.text("histogram.of"), "result");
    EXPECT_FALSE(viewer.has_widget("histogram.Change")) << "nothing is changed against a baseline yet";
    viewer.key("y");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("histogram.of") == "change"; })) << viewer.log();
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("banner") == "Paused"; }));
    ASSERT_TRUE(viewer.until([&] { // one frame of the two
        return std::abs(std::abs(viewer.number("histogram.median")) - 25) < 0.5;
    })) << viewer.number("histogram.median");
    EXPECT_NE(viewer.text("histogram.says").find("99 %: "), std::string::npos);
    EXPECT_TRUE(viewer.text("histogram.says").ends_with(" %")) << viewer.text("histogram.says");
    viewer.drawn();
    const auto beyond = [&] {
        const auto values = viewer.probe()["values"];
        return values["histogram.below"].get<double>() + values["histogram.above"].get<double>();
    };
    EXPECT_NEAR(beyond(), 40.0 / 51, 1e-3) << "of 11…50 %";
    EXPECT_NEAR(viewer.number("beyond.below") + viewer.number("beyond.above"), 40.0 / 51, 1e-3)
        << "the arrows at the colour bar";

    viewer.scroll_to("histogram.plot", "view.colormap");
    const Rect plot = viewer.rest("histogram.plot");
    const double low = viewer.number("histogram.span.low"), high = viewer.number("histogram.span.high");
    const auto x = [&](double value) { return plot.x + (value - low) / (high - low) * plot.width; };
    const double y = plot.y + plot.height / 2;
    viewer.drag({{x(10), y}, {x(16), y}, {x(20.5), y}});
    EXPECT_TRUE(viewer.until([&] {
        return std::abs(viewer.number("change.range") - 20.5) <= 2 * (high - low) / plot.width;
    })) << viewer.number("change.range");
    EXPECT_TRUE(viewer.until([&] { return std::abs(beyond() - 30.0 / 51) < 0.03; })) << beyond();
    const double range = viewer.number("change.range");
    viewer.key("braceright"); // the high end moves up, and the low end symmetrically
    EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number("change.range") - range * 1.04) < 1e-9; }))
        << viewer.number("change.range");
    const double mapped = viewer.number("high");
    viewer.click("histogram.Result");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("histogram.of") == "result"; }));
    EXPECT_EQ(viewer.number("high"), mapped) << "the range of the result was left alone";
    viewer.click("histogram.Change");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("histogram.of") == "change"; }));
    viewer.key("y");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("histogram.of") == "result"; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(HistogramViewerTest, TheWarningOfSaturationHasItsThreshold) {
    const std::string source = picture(300); // 3 %
    const auto speckled = [&](const char* limit) {
        std::vector<std::string> line = words(source, {"--view", limit});
        std::replace(line.begin(), line.end(), std::string("none"), std::string("speckle:radius=1"));
        return line;
    };
    Viewer loud(*desktop_, folder_, speckled("saturation_warning=2.9"));
    ASSERT_TRUE(loud.shows_picture()) << loud.log();
    EXPECT_TRUE(loud.until([&] { return loud.raised("saturated"); }));
    EXPECT_TRUE(loud.has_widget("color_legend"));
    EXPECT_EQ(loud.quit(), 0) << loud.log();
    Viewer quiet(*desktop_, folder_, speckled("saturation_warning=3.1"));
    ASSERT_TRUE(quiet.shows_picture()) << quiet.log();
    EXPECT_FALSE(quiet.raised("saturated"));
    EXPECT_EQ(quiet.quit(), 0) << quiet.log();
}

} // namespace specklescope::viewer_histogram_test
