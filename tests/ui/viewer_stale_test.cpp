// A live source that falls silent: its picture is grey, its age is counted and no value is shown.
#include "tests/support/datagram_camera.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_stale_test {

using ViewerStale = ViewerTest;

TEST_F(ViewerStale, ASilentCameraIsGreyWithItsAgeUntilFramesComeAgain) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,4],[29,19]]}]})");
    DatagramCamera camera;
    Viewer viewer(*desktop_, folder_,
                  with({camera.source(), "--trust", "--no-remember", "--regions", "r.json", "--stage",
                        "speckle:output=contrast", "--silence", "60"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.number("region.mean.0") > 0; })) << viewer.log();
    viewer.key("h"); // histogram
    ASSERT_TRUE(
        viewer.until([&] { return viewer.text("histogram.says").find("median") != std::string::npos; }));
    EXPECT_TRUE(std::isnan(viewer.number("stale")));
    const Rect canvas = viewer.widget("canvas");
    const int x = static_cast<int>(canvas.x + 30), y = static_cast<int>(canvas.y + canvas.height / 2);
    const auto colour = [&] {
        const auto seen = shot().at(x, y);
        return *std::max_element(seen.begin(), seen.end()) - *std::min_element(seen.begin(), seen.end());
    };
    EXPECT_GT(colour(), 20);

    camera.silent = true;
    ASSERT_TRUE(viewer.until([&] { return viewer.number("stale") > 1; })) << viewer.log();
    EXPECT_TRUE(viewer.has_widget("stale"));
    EXPECT_TRUE(viewer.until([&] { return std::isnan(viewer.number("region.mean.0")); }));
    EXPECT_EQ(viewer.text("histogram.says"), "–");
    EXPECT_TRUE(viewer.until([&] {
        const std::string line = viewer.text("summary");
        return line.find("– frames/s") != std::string::npos && line.find("Latency –") != std::string::npos;
    })) << viewer.text("summary");
    EXPECT_LT(colour(), 12);
    const Rect over = viewer.widget("stale");
    EXPECT_TRUE(canvas.contains(over.x, over.y) &&
                canvas.contains(over.x + over.width, over.y + over.height));
    viewer.events({"mousemove", std::to_string(x), std::to_string(y)});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("hover.x") >= 0; }));
    EXPECT_TRUE(std::isnan(viewer.number("hover.value")));

    viewer.key("space"); // a pause of the user is no silence
    EXPECT_TRUE(viewer.until([&] { return std::isnan(viewer.number("stale")); }));
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("stale") > 0; }));

    camera.silent = false;
    EXPECT_TRUE(viewer.until(
        [&] { return std::isnan(viewer.number("stale")) && viewer.number("region.mean.0") > 0; }));
    EXPECT_TRUE(viewer.until([&] { return viewer.text("traces.mark").find("no frames for") == 0; }))
        << viewer.text("traces.mark");
    EXPECT_GT(colour(), 20);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_stale_test
