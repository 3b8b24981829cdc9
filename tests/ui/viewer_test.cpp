// The real window on a virtual screen: mouse and keys have their visible effect.
#include "tests/support/images.hpp"
#include "tests/support/places.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include "pipeline/mapping.hpp"
#include "stages/speckle/speckle.hpp"

namespace specklescope::viewer_test {

/// Mean step between neighbours in the middle of the picture, in grey levels.
double roughness(const Screenshot& shot, const Rect& canvas) {
    double sum = 0;
    int count = 0;
    for (int y = static_cast<int>(canvas.y + canvas.height * 0.4);
         y < static_cast<int>(canvas.y + canvas.height * 0.7); ++y)
        for (int x = static_cast<int>(canvas.x + canvas.width * 0.55);
             x < static_cast<int>(canvas.x + canvas.width * 0.9); ++x, ++count)
            sum += std::abs(shot.at(x, y)[0] - shot.at(x + 1, y)[0]);
    return sum / count;
}

TEST_F(ViewerTest, RadiusAndExposureSlidersChangeTheMap) {
    Viewer viewer(*desktop_, folder_,
                  with({test::test_data("rat_cortex_1280x1024_mono8.tif"), "--no-remember", "--rate", "5"},
                       {"--view", "colormap=grey", "--stage", "speckle:radius=1"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect canvas = viewer.widget("canvas");
    const auto settled = [&] {
        double last = NAN;
        return viewer.until([&] {
            return std::exchange(last, viewer.number("high")) == viewer.number("high") &&
                   viewer.has_widget("canvas");
        });
    };
    ASSERT_TRUE(settled());
    const double rough = roughness(shot(), canvas);

    viewer.drag("speckle.radius", 0.1, 0.6);
    ASSERT_TRUE(viewer.until([&] { return viewer.text("chain").find("radius=1,") == std::string::npos; }))
        << viewer.text("chain");
    ASSERT_TRUE(settled());
    const std::string chain = viewer.text("chain");
    const int radius = std::atoi(chain.substr(chain.find("radius=") + 7).c_str());
    EXPECT_GE(radius, 8) << chain;
    // Windows of (2w+1)² pixels shift by one pixel and keep all but a strip 1/(2w+1) wide.
    EXPECT_TRUE(viewer.until([&] { return roughness(shot(), canvas) < rough / 2; })) << "before " << rough;

    // SFI = 1/(2TK²): the product with T is constant, at one pixel and for the whole range.
    desktop_->events({"mousemove", "600", "420"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("hover.value") > 0; }));
    const double value = viewer.number("hover.value"), high = viewer.number("high");
    viewer.drag("speckle.exposure", 0.5, 0.8);
    desktop_->events({"mousemove", "600", "420"});
    ASSERT_TRUE(viewer.until([&] { return viewer.text("chain").find("exposure=10,") == std::string::npos; }));
    const auto exposure = [&] {
        const std::string now = viewer.text("chain");
        return std::atof(now.substr(now.find("exposure=") + 9).c_str());
    };
    EXPECT_GT(exposure(), 20);
    EXPECT_TRUE(viewer.until([&] {
        return std::abs(viewer.number("hover.value") * exposure() / (value * 10) - 1) < 1e-4;
    })) << viewer.number("hover.value")
        << " at " << exposure() << " ms, before " << value << " at 10 ms";
    EXPECT_TRUE(
        viewer.until([&] { return std::abs(viewer.number("high") * exposure() / (high * 10) - 1) < 0.02; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerTest, PixelsOnTheScreenFollowTheMappingOfTheHost) {
    const TiffSpec spec{.width = 48, .height = 40};
    const std::string bytes = tiff_bytes(spec);
    write_text(folder_ / "small.tif", bytes);
    Viewer viewer(*desktop_, folder_,
                  with({"small.tif", "--no-remember", "--stage", "speckle:radius=2,output=contrast"},
                       {"--view", "colormap=viridis", "--view", "automatic=false", "--view", "low=0.35",
                        "--view", "high=0.5", "--view", "overlay=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Screenshot screen = at_rest(viewer);

    const Shape shape{48, 40, 1, PixelType::u8}, result{48, 40, 1, PixelType::f32},
        colour{48, 40, 3, PixelType::u8};
    std::vector<float> map(shape.pixels());
    std::vector<std::byte> rgb(colour.bytes());
    Params params(*find_stage("speckle").table);
    params.set_text("radius", "2");
    params.set_text("output", "contrast");
    const auto stage = find_stage("speckle").make_host(params);
    stage->prepare(shape);
    FrameInfo info;
    PixelCounts counts;
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data() + bytes.size() - shape.bytes());
    const HostView out(reinterpret_cast<std::byte*>(map.data()), result), painted(rgb.data(), colour);
    stage->run(ConstHostView(first, shape), out, {info, counts});
    map_colors(out, ColorMap::viridis, {0.35, 0.5}, ToneCurve::linear, painted);

    const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                 scale = viewer.number("image.scale");
    int wrong = 0, different = 0;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const auto seen =
                screen.at(static_cast<int>(x0 + (x + 0.5) * scale), static_cast<int>(y0 + (y + 0.5) * scale));
            const auto* wanted = reinterpret_cast<const std::uint8_t*>(painted.row(y)) + 3 * x;
            int largest = 0;
            for (std::size_t c = 0; c < 3; ++c)
                largest = std::max(largest, std::abs(seen[c] - wanted[c]));
            different += largest > 0;
            wrong += largest >
                     6; // viridis changes by less from one index to the next: float32 may use the neighbour
        }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(different, shape.width * shape.height / 100);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerTest, KeysOverlayRecordingAndMemory) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--view", "panel_sections=Record,Stages,Display"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const double before = viewer.number("sequence");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("sequence") > before; }));

    // One line is always visible, all with F1.
    EXPECT_TRUE(viewer.until([&] {
        const std::string line = viewer.text("summary");
        const bool drops =
            line.ends_with(" · no drops") || line.ends_with(" dropped"); // depends on this machine's speed
        return line.find("Latency ") == 0 && line.find(" frames/s · ") != std::string::npos && drops;
    })) << viewer.text("summary");
    EXPECT_FALSE(viewer.has_widget("overlay"));
    viewer.key("F1");
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("overlay"); }));
    viewer.key("F1");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("overlay"); }));

    viewer.key("space");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("banner") == "Paused"; }));
    viewer.key("space");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("banner").empty(); }));

    viewer.click("record.raw");
    const auto recorded = [&] {
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            if (entry.path().filename().string().starts_with("raw_") && entry.file_size() > 3000000)
                return true;
        return false;
    };
    EXPECT_TRUE(viewer.until(recorded)) << viewer.log();
    viewer.click("record.raw");
    EXPECT_TRUE(viewer.until([&] { return viewer.log().find("Recorded") != std::string::npos; }))
        << viewer.log();

    viewer.key("m");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") == "jet"; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    const std::string last = read_text(folder_ / "config/specklescope/last.toml");
    EXPECT_NE(last.find("jet"), std::string::npos) << last;

    Viewer again(*desktop_, folder_, {});
    ASSERT_TRUE(again.shows_picture()) << again.log();
    EXPECT_EQ(again.text("colormap"), "jet");
    EXPECT_EQ(again.quit(), 0) << again.log();
}

TEST_F(ViewerTest, ALengthIsTypedAndARecordingEndsWithIt) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic?rate=50", "--no-remember", "--subject", "mouse 7", "--view",
                        "panel_sections=Record,Stages,Display"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.click("record.limits");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("record.record_frames"); }));
    viewer.scroll_to("record.record_frames", "record.limits");
    viewer.click("record.record_frames");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 1; }));
    desktop_->events({"key", "ctrl+a"});
    desktop_->events({"type", "--delay", "60", "12"});
    desktop_->events({"key", "Return"});
    ASSERT_TRUE(viewer.until([&] { return viewer.number("typing") == 0; }));
    viewer.click("record.raw");
    EXPECT_TRUE(viewer.until([&] {
        return viewer.log().find("Recorded 12 frames into") != std::string::npos;
    })) << viewer.log();
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
        if (entry.path().filename().string().starts_with("raw_")) {
            EXPECT_NE(read_text(entry.path().string()).find("\"subject\":\"mouse 7\""), std::string::npos);
        }
}

TEST_F(ViewerTest, ASourceThatFailsLeavesThePictureAndSaysWhy) {
    Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.click("tool.open");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("open.text") && viewer.number("typing") == 1; }));
    desktop_->events({"type", "--delay", "60", "nowhere.tif"}); // over the selected text
    desktop_->events({"key", "Return"});
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("error.close"); })) << viewer.log();
    const double before = viewer.number("sequence");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("sequence") > before; }))
        << "the old source should run on";
    viewer.click("error.close");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("error.close"); }));
    EXPECT_NE(viewer.log().find("nowhere.tif"), std::string::npos);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_test
