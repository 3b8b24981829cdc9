// Saved plots: places of curves and axes, readable texts, names of files.
#include "have_cairo.hpp"
#include "recording/draw/plot.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include <png.h>

namespace specklescope::plot_test {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A red curve at 2, and a blue one that rises from 0 to 4, over 10 s.
TracePlot two_curves() {
    TracePlot plot{.symbol = "K",
                   .unit = "1/s",
                   .from_ns = 5 * kSecond,
                   .to_ns = 15 * kSecond,
                   .time_title = "time",
                   .low = 0,
                   .high = 4};
    plot.curves.push_back({"rest <a & b>", "#ff0000", 0, {}});
    plot.curves.push_back({"ramp", "#0000ff", 0, {}});
    for (int i = 0; i <= 10; ++i) {
        plot.curves[0].columns.push_back({.time_ns = (5 + i) * kSecond, .low = 2, .high = 2});
        plot.curves[1].columns.push_back({.time_ns = (5 + i) * kSecond, .low = 0.4 * i, .high = 0.4 * i});
    }
    return plot;
}

struct Picture {
    int width = 0, height = 0;
    std::vector<png_byte> rgb;
    std::array<int, 3> at(double x, double y) const {
        const auto i = 3 * (static_cast<std::size_t>(std::lround(y)) * static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(std::lround(x)));
        return {rgb.at(i), rgb.at(i + 1), rgb.at(i + 2)};
    }
    /// Smallest box of this colour.
    std::array<int, 4> box(const std::array<int, 3>& colour) const {
        std::array<int, 4> found{width, height, -1, -1};
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                if (at(x, y) == colour)
                    found = {std::min(found[0], x), std::min(found[1], y), std::max(found[2], x),
                             std::max(found[3], y)};
        return found;
    }
};
Picture read(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
    image.format = PNG_FORMAT_RGB;
    Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    picture.rgb.resize(PNG_IMAGE_SIZE(image));
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr)) << image.message;
    return picture;
}

TEST(Plot, CurvesLieWhereTheirValuesAre) {
    const TemporaryFolder folder;
    TracePlot plot = two_curves();
    const Picture all = read(write_plot(folder / "all.pdf", plot).png);
    EXPECT_EQ(all.width, 1920);
    EXPECT_EQ(all.at(3, 3), (std::array{255, 255, 255})) << "white paper";
    const std::array<int, 3> blue{0, 0, 191}; // darker, for paper
    const auto ramp = all.box(blue);          // with the sample in the legend below
    plot.curves.erase(plot.curves.begin());
    plot.curves[0].columns.resize(6); // to half of the time and of the height
    const auto half = read(write_plot(folder / "half.pdf", plot).png).box(blue);
    const double left = ramp[0], right = ramp[2], top = ramp[1];
    EXPECT_GT(right - left, 1600);
    EXPECT_NEAR(half[2], (left + right) / 2, 3);
    EXPECT_NEAR(half[1] - top, 190 * 4 / 2.0, 4) << "190 points are 4 units";
    plot.low = -4; // the same values higher up
    const auto raised = read(write_plot(folder / "raised.pdf", plot).png).box(blue);
    EXPECT_NEAR(raised[1] - top, 190 * 4 / 4.0, 4);
}

TEST(Plot, AChangeAndAShadedBaselineAreOfF0) {
    const TemporaryFolder folder;
    TracePlot plot = two_curves();
    plot.curves[0].f0 = 1; // 2 is a change of 100 %
    plot.curves.resize(1);
    plot.high = 200;
    plot.intervals = {{"rest", 5 * kSecond, 10 * kSecond, true}, {"stimulus", 11 * kSecond, 13 * kSecond}};
    const Picture picture = read(write_plot(folder / "p.pdf", plot).png);
    const auto curve = picture.box({191, 0, 0});
    const double middle = (12 + 12 + 95) * 4;
    EXPECT_NEAR(curve[1], middle, 4);
    const int above = curve[1] - 60;
    const auto shade = picture.at(400, above), plain = picture.at(1700, above);
    EXPECT_EQ(plain, (std::array{255, 255, 255}));
    EXPECT_LT(shade[0], 250);
    const std::string svg = read_text(write_plot(folder / "q.pdf", plot).svg);
    for (const char* name : {">rest · F₀</text>", ">stimulus</text>"})
        EXPECT_NE(svg.find(name), std::string::npos) << name;
}

TEST(Plot, TextsOfAnSvgCanBeRead) {
    const TemporaryFolder folder;
    const PlotFiles files = write_plot(folder / "p.pdf", two_curves());
    const std::string svg = read_text(files.svg);
    for (const char* text : {">K in 1/s</text>", ">time, s</text>", ">rest &lt;a &amp; b&gt;</text>",
                             ">ramp</text>", ">4</text>", ">6</text>", ">14</text>"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_EQ(svg.find("NaN"), std::string::npos);
    EXPECT_TRUE(read_text(files.pdf).starts_with("%PDF-"));
}

TEST(Plot, TheFilesShareAFreeName) {
    const TemporaryFolder folder;
    write_text(folder / "p.svg", "taken");
    const PlotFiles files = write_plot(folder / "p.pdf", two_curves());
    EXPECT_EQ(files.pdf, folder / "p-1.pdf");
    EXPECT_EQ(files.png, folder / "p-1.png");
    EXPECT_EQ(files.svg, folder / "p-1.svg");
    EXPECT_EQ(read_text(folder / "p.svg"), "taken");
    EXPECT_THROW((void)write_plot(folder / "none/p.pdf", two_curves()), RunError);
    EXPECT_EQ(folder.names().size(), 4U);
}

} // namespace specklescope::plot_test
#endif
