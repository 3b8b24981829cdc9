// Dark frame and flat field: the formula for files and captures, the output during a capture, and saturation
// seen by later stages.
#include "base/error.hpp"
#include "pipeline/executor.hpp"
#include "stages/background/background.hpp"
#include "tests/stages/background/background_oracle.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/stage_runner.hpp"

namespace specklescope::test::background_test {

template <class T> void expect_passed(int channels, std::mt19937_64& random) {
    const auto frame = noise<T>(channels, 0, 255, random);
    const auto stage = find_stage("background").make_host(params_of("background", {}));
    EXPECT_EQ(stage->prepare(frame.shape()), frame.shape());
    TestImage<T> output(frame.shape().width, frame.shape().height, 5, channels);
    FrameInfo info;
    info.full_scale = 200; // some samples are above
    PixelCounts counts;
    stage->run(frame.view(), output.view(), {.info = info, .counts = counts});
    stage->describe(info);
    EXPECT_EQ(info.full_scale, 200);
    EXPECT_EQ(counts, PixelCounts{});
    EXPECT_TRUE(stage->warmup().done());
    for (int y = 0; y < frame.shape().height; ++y)
        for (int x = 0; x < frame.shape().width * channels; ++x)
            ASSERT_EQ(output.at(x, y), frame.at(x, y)) << x << ", " << y;
}

TEST(Background, PixelsPassWithoutACorrection) {
    std::mt19937_64 random = test_random(2);
    for (const int channels : {1, 3}) {
        expect_passed<std::uint8_t>(channels, random);
        expect_passed<std::uint16_t>(channels, random);
        expect_passed<float>(channels, random);
    }
}

TEST(Background, CapturesDarkThenFlatAndUsesTheCompletePart) {
    std::mt19937_64 random = test_random(4);
    std::vector<TestImage<std::uint16_t>> darks;
    std::vector<TestImage<std::uint16_t>> flats;
    StageRunner run("background", {"dark=capture", "flat=capture", "frames=5"}, {23, 7, 1, PixelType::u16});
    for (int t = 0; t < 3; ++t) {
        const auto frame = noise<std::uint16_t>(1, 40, 60, random);
        run.run(frame);
        run.run(frame, true); // after an edit: not added twice
        EXPECT_EQ(run.stage().warmup(), (Warmup{{}, t + 1, 5}));
        expect_corrected(run, frame, nullptr, nullptr);
    }
    run.stage().reset(); // a gap: the capture starts again
    for (int t = 0; t < 5; ++t) {
        darks.push_back(noise<std::uint16_t>(1, 40, 60, random));
        run.run(darks.back());
    }
    const Plane dark = mean_plane(darks);
    EXPECT_EQ(run.stage().warmup(), (Warmup{{}, 0, 5})); // the flat field is next
    for (int t = 0; t < 5; ++t) {
        flats.push_back(noise<std::uint16_t>(1, 1000, 2000, random));
        if (t < 4) {
            run.run(flats.back());
            expect_corrected(run, flats.back(), &dark, nullptr);
        }
    }
    run.run(flats.back());
    const Plane flat = mean_plane(flats);
    expect_corrected(run, flats.back(), &dark, &flat);
    EXPECT_FALSE(run.stage().warmup().done()) << "it shows the even surface still";
    run.run(flats.back(), true);
    EXPECT_FALSE(run.stage().warmup().done()) << "also once more";
    run.stage().reset(); // a complete capture stays
    EXPECT_TRUE(run.stage().warmup().done());
    const auto frame = noise<std::uint16_t>(1, 0, 3000, random);
    run.run(frame);
    expect_corrected(run, frame, &dark, &flat);
    EXPECT_TRUE(run.stage().warmup().done());
}

TEST(Background, TheButtonRecapturesAndKeepsTheOldUntilComplete) {
    std::mt19937_64 random = test_random(5);
    StageRunner run("background", {"dark=capture", "frames=1"}, {23, 7, 1, PixelType::f32});
    const auto first = noise<float>(1, 5, 6, random);
    run.run(first);
    const Plane old = mean_plane<float>({first});
    Params params = params_of("background", {"dark=capture", "frames=1"});
    params.as<BackgroundParams>().capture_flat = 3; // not in use: no effect
    run.stage().set_params(params);
    EXPECT_EQ(run.stage().note(), "");
    params.as<BackgroundParams>().capture_dark = 1;
    const auto frame = noise<float>(1, 50, 60, random);
    run.run(frame);
    expect_corrected(run, frame, &old, nullptr);
    run.stage().set_params(params);
    EXPECT_FALSE(run.stage().warmup().done());
    const auto second = noise<float>(1, 8, 9, random);
    run.run(second);
    const Plane renewed = mean_plane<float>({second});
    expect_corrected(run, second, &renewed, nullptr);
    EXPECT_EQ(run.stage().warmup(), (Warmup{{}, 1, 2})) << "done with the frame behind it";
}

TEST(Background, InheritsOnlyCapturesOfItsSize) {
    std::mt19937_64 random = test_random(6);
    const std::vector<std::string> texts = {"dark=capture", "frames=1"};
    for (const Shape& shape :
         {Shape{23, 7, 1, PixelType::u16}, {23, 5, 1, PixelType::u16}, {20, 7, 1, PixelType::u16}}) {
        StageRunner old("background", texts, {23, 7, 1, PixelType::u16});
        old.run(noise<std::uint16_t>(1, 40, 60, random));
        ASSERT_EQ(old.stage().note(), "");
        StageRunner heir("background", texts, shape);
        heir.stage().inherit(old.stage());
        EXPECT_EQ(heir.stage().warmup().done(), shape == (Shape{23, 7, 1, PixelType::u16}))
            << to_string(shape);
    }
}

TEST(Background, RepeatedFramesAreNotCaptured) {
    std::mt19937_64 random = test_random(7);
    const std::vector<std::string> texts = {"dark=capture", "flat=capture", "frames=1"};
    StageRunner run("background", texts, {23, 7, 1, PixelType::u16});
    const auto first = noise<std::uint16_t>(1, 40, 60, random);
    run.run(first, true); // an edit while paused has made the stage
    EXPECT_EQ(run.stage().warmup(), (Warmup{{}, 0, 1}));
    EXPECT_EQ(run.stage().note(), "takes the dark frame");
    run.run(first);
    const Plane dark = mean_plane<std::uint16_t>({first});
    EXPECT_EQ(run.stage().note(), "takes the flat field");
    run.run(first, true); // the flat field is missing, and this is not it
    expect_corrected(run, first, &dark, nullptr);
    EXPECT_FALSE(run.stage().warmup().done());
    const auto second = noise<std::uint16_t>(1, 1000, 2000, random);
    run.run(second);
    const Plane flat = mean_plane<std::uint16_t>({second});
    expect_corrected(run, second, &dark, &flat);
    EXPECT_EQ(run.stage().note(), "");
}

TEST(Background, AChainThatCountsItsButtonsFromZeroPressesNone) {
    std::mt19937_64 random = test_random(8);
    const std::vector<std::string> texts = {"dark=capture", "frames=1"};
    StageRunner run("background", texts, {23, 7, 1, PixelType::u16});
    run.run(noise<std::uint16_t>(1, 40, 60, random));
    Params params = params_of("background", texts);
    params.as<BackgroundParams>().capture_dark = 2;
    run.stage().set_params(params);
    run.run(noise<std::uint16_t>(1, 40, 60, random));
    run.run(noise<std::uint16_t>(1, 40, 60, random));
    EXPECT_TRUE(run.stage().warmup().done());
    run.set(texts);
    EXPECT_TRUE(run.stage().warmup().done());
    params.as<BackgroundParams>().capture_dark = 1;
    run.stage().set_params(params);
    EXPECT_FALSE(run.stage().warmup().done());
}

TEST(Background, MoreFramesAreForTheNextCapture) {
    std::mt19937_64 random = test_random(9);
    StageRunner run("background", {"dark=capture", "frames=2"}, {23, 7, 1, PixelType::u8});
    run.run(noise<std::uint8_t>(1, 40, 60, random));
    run.set({"dark=capture", "frames=5"});
    EXPECT_EQ(run.stage().warmup(), (Warmup{{}, 1, 2}));
    run.run(noise<std::uint8_t>(1, 40, 60, random));
    EXPECT_EQ(run.stage().note(), "");
    run.run(noise<std::uint8_t>(1, 40, 60, random));
    EXPECT_TRUE(run.stage().warmup().done());
}

TEST(Background, ColourIsCountedByPixel) {
    StageRunner run("background", {"black=1"}, {5, 2, 3, PixelType::f32});
    TestImage<float> frame(5, 2, 1, 3);
    frame.fill([] { return 7; });
    frame.at(0, 0) = frame.at(2, 0) = std::nanf(""); // one pixel
    frame.at(3, 0) = std::numeric_limits<float>::infinity();
    frame.at(4, 0) = std::nanf(""); // the same pixel
    run.run(frame);
    EXPECT_EQ(run.counts.undefined, 2U);
    EXPECT_EQ(run.counts.infinite, 1U);
    StageRunner bytes("background", {"black=1"}, {5, 2, 3, PixelType::u8});
    TestImage<std::uint8_t> bright(5, 2, 1, 3);
    bright.fill([] { return 255; });
    bright.at(0, 0) = 3;
    bright.at(3, 1) = bright.at(4, 1) = bright.at(5, 1) = 3;
    bytes.info.full_scale = 255;
    bytes.run(bright);
    EXPECT_EQ(bytes.counts.saturated, 9U);
}

TEST(Background, LaterSpeckleStillCountsSaturation) {
    std::mt19937_64 random = test_random(6);
    const TemporaryFolder folder;
    auto frame = noise<std::uint16_t>(1, 100, 4094, random);
    for (const auto& [x, y] : {std::pair{3, 3}, {15, 4}})
        frame.at(x, y) = 4095;
    save_tiff(folder / "flat.tif", noise<std::uint16_t>(1, 500, 4000, random));
    save_tiff(folder / "dark.tif", noise<std::uint16_t>(1, 10, 90, random));
    const auto saturated = [&](const std::string& first, bool alone = false) {
        const std::unique_ptr<Executor> executor = make_host_executor(1);
        auto chain = std::make_shared<Chain>();
        if (!first.empty())
            chain->add(first);
        if (!alone)
            chain->add("speckle:radius=1,border=crop");
        executor->set_chain(chain, 1);
        FrameRing ring(frame.shape(), 1, host_memory());
        Frame slot = ring.try_acquire();
        copy_pixels(frame.view(), slot.host());
        slot.info().full_scale = 4095;
        executor->submit(std::move(slot), true);
        return executor->collect(true)->counts.saturated;
    };
    EXPECT_EQ(saturated(""), 18U);
    EXPECT_EQ(saturated("background"), 18U);
    EXPECT_EQ(saturated("background:black=64"), 18U);
    EXPECT_EQ(saturated("background:black=64", true), 2U) << "the samples themselves";
    EXPECT_EQ(saturated("background:dark=file,dark_file=\"" + (folder / "dark.tif") +
                        "\",flat=file,flat_file=\"" + (folder / "flat.tif") + "\""),
              18U);
}

} // namespace specklescope::test::background_test
