// Temporal contrast on the host matches the stored frames, after ten frames and after thousands, on every
// processor.
#include "base/error.hpp"
#include "files/image_file.hpp"
#include "stages/history.hpp"
#include "stages/temporal/temporal_sums.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/places.hpp"
#include "tests/support/stage_runner.hpp"

#include <filesystem>

namespace specklescope::test::temporal_test {

constexpr double kExposure = 0.01; // the parameter's default, s

/// Compares the result in `run` with the frames in `window`: 1e-6 of K, and equal counts.
template <class T> void expect_temporal(StageRunner& run, const LastFrames<T>& window, ContrastOutput output,
                                        double threshold, const std::string& where) {
    PixelCounts expected;
    double worst = 0;
    for (int y = 0; y < run.output.shape().height; ++y)
        for (int x = 0; x < run.output.shape().width; ++x) {
            const std::vector<T> samples = window.samples(x, y);
            const OracleWindow sums = oracle_window(samples, threshold);
            const double value = oracle_value(sums, static_cast<double>(samples.size()), output, kExposure);
            worst = std::max(worst, contrast_error(run.output.at(x, y), value, output));
            expected.undefined += std::isnan(value) ? 1 : 0;
            expected.infinite += std::isinf(value) ? 1 : 0;
            expected.saturated += sums.saturated ? 1 : 0;
        }
    EXPECT_LE(worst, 1e-6) << where;
    EXPECT_EQ(run.counts, expected) << where << ": undefined " << run.counts.undefined << ", infinite "
                                    << run.counts.infinite << ", saturated " << run.counts.saturated
                                    << "; expected " << expected.undefined << ", " << expected.infinite
                                    << ", " << expected.saturated;
}

constexpr double kNoThreshold = std::numeric_limits<double>::quiet_NaN();

/// `count` frames from make(), compared after every frame below 40 and after each `step`-th.
template <class T, class Make>
void expect_stream(int frames, int count, int step, ContrastOutput output, double threshold, Make&& make) {
    const ChoiceNames names = contrast_output_names();
    TestImage<T> frame = make(0);
    StageRunner run(
        "temporal",
        {"frames=" + std::to_string(frames), "output=" + names[static_cast<std::size_t>(output)].key},
        frame.shape());
    LastFrames<T> window(frames);
    for (int t = 0; t < count; ++t) {
        if (t > 0)
            frame = make(t);
        window.add(frame);
        run.run(frame);
        EXPECT_EQ(run.held(), window.held());
        if (t < 40 || t % step == 0 || t + 1 == count)
            expect_temporal(run, window, output, threshold,
                            std::to_string(frames) + " frames, at frame " + std::to_string(t) + ", " +
                                to_string(frame.shape()));
        if (testing::Test::HasFailure())
            return;
    }
}

class TemporalTargets : public EveryInstructionSet {};

TEST_P(TemporalTargets, EveryOutputTypeAndLength) {
    std::mt19937_64 random = test_random(1);
    for (const int frames : {2, 3, 7, 25})
        for (int i = 0; i < 5; ++i) {
            const auto output = static_cast<ContrastOutput>(i);
            expect_stream<std::uint8_t>(frames, 45, 7, output, 255, [&](int) {
                return uniform_image<std::uint8_t>(19, 5, 0, 255, random);
            });
            expect_stream<std::uint16_t>(frames, 45, 7, output, 65535, [&](int) {
                return speckle_image<std::uint16_t>(19, 5, 30000, 65535, random);
            });
            expect_stream<float>(frames, 45, 7, output, kNoThreshold,
                                 [&](int) { return uniform_image<float>(19, 5, 1, 5000, random); });
        }
}

TEST_P(TemporalTargets, LongWindowsOfTheLargestSamples) { // N·ΣI² has 50 bits
    std::mt19937_64 random = test_random(2);
    for (const int frames : {255, 256, 257, 500}) {
        expect_stream<std::uint16_t>(frames, 700, 111, ContrastOutput::contrast, 65535, [&](int) {
            return uniform_image<std::uint16_t>(9, 2, 65000, 65535, random);
        });
        expect_stream<std::uint8_t>(frames, 700, 111, ContrastOutput::contrast, 255,
                                    [&](int) { return uniform_image<std::uint8_t>(9, 2, 250, 255, random); });
    }
}

TEST_P(TemporalTargets, EightBitsFromBlackToWhite) { // around the longest window with sums in 32 bits
    std::mt19937_64 random = test_random(7);
    for (const int frames : {30, 31, 32})
        expect_stream<std::uint8_t>(frames, 120, 1, ContrastOutput::contrast, 255, [&](int t) {
            TestImage<std::uint8_t> image = uniform_image<std::uint8_t>(70, 1, 0, 255, random);
            for (int x = 0; x < 40; ++x)
                image.at(x, 0) = t / 40 % 2 == 0 || (x > 20 && random() % 2 == 0) ? 0 : 255;
            return image;
        });
}

TEST_P(TemporalTargets, ThousandsOfFramesDoNotDrift) {
    std::mt19937_64 random = test_random(3);
    for (const int frames : {2, 25})
        expect_stream<float>(frames, 5000, 97, ContrastOutput::contrast, kNoThreshold,
                             [&](int) { return low_contrast_image<float>(23, 2, 50000, 0.001, random); });
    expect_stream<std::uint16_t>(25, 5000, 97, ContrastOutput::contrast, kNoThreshold, [&](int) {
        return low_contrast_image<std::uint16_t>(23, 2, 50000, 0.001, random);
    });
}

TEST_P(TemporalTargets, FloatsForgetLargeSamples) { // steps of the level, and outliers of any size
    std::mt19937_64 random = test_random(4);
    std::uniform_int_distribution<int> exponent(-20, 15);
    double level = 1;
    expect_stream<float>(9, 600, 1, ContrastOutput::contrast, kNoThreshold, [&](int t) {
        if (t % 13 == 0)
            level = std::pow(10, exponent(random));
        TestImage<float> image = uniform_image<float>(11, 2, 0.99 * level, level, random);
        if (t % 7 == 0)
            image.at(t % 11, 1) = static_cast<float>(std::pow(10, exponent(random)));
        return image;
    });
}

TEST_P(TemporalTargets, OneUndefinedFrameIsForgottenAfterTheWindow) {
    std::mt19937_64 random = test_random(5);
    const float undefined = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    expect_stream<float>(6, 60, 1, ContrastOutput::sfi, kNoThreshold, [&](int t) {
        TestImage<float> image = uniform_image<float>(13, 3, 1, 100, random);
        if (t == 10 || t == 13 || t == 40)
            image.at(4, 1) = undefined;
        if (t == 12 || t == 30)
            image.at(5, 2) = t == 12 ? infinite : -infinite;
        image.at(12, 0) = undefined; // always
        return image;
    });
}

TEST_P(TemporalTargets, IdenticalFramesHaveNoContrast) {
    std::mt19937_64 random = test_random(6);
    const TestImage<float> before = uniform_image<float>(21, 3, 100, 4000, random);
    const TestImage<float> still = uniform_image<float>(21, 3, 100, 4000, random);
    StageRunner run("temporal", {"frames=40", "output=contrast"}, still.shape());
    for (int t = 0; t < 50; ++t)
        run.run(before);
    for (int t = 0; t < 40; ++t)
        run.run(still);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 21; ++x)
            EXPECT_EQ(run.output.at(x, y), 0) << x << ", " << y;
    run.set({"frames=40", "output=sfi"});
    run.run(still, true);
    EXPECT_EQ(run.counts.infinite, 63U);
}

INSTANTIATE_TEST_SUITE_P(Highway, TemporalTargets, instruction_sets(), instruction_set_name);

TEST(Temporal, DarkPixelsAreUndefined) {
    TestImage<std::uint16_t> dark(5, 4);
    StageRunner run("temporal", {"frames=3"}, dark.shape());
    for (int t = 0; t < 5; ++t)
        run.run(dark);
    EXPECT_EQ(run.counts.undefined, 20U);
    EXPECT_EQ(run.counts.infinite, 0U);
}

TEST(Temporal, SaturationLastsAsLongAsTheSampleIsInTheWindow) {
    TestImage<std::uint16_t> plain(5, 4);
    plain.fill([n = 0]() mutable { return 100 + n++; });
    TestImage<std::uint16_t> clipped = plain;
    clipped.at(2, 1) = 4095;
    StageRunner run("temporal", {"frames=4"}, plain.shape());
    run.info.full_scale = 4095;
    const std::vector<int> expected = {0, 0, 1, 1, 1, 1, 0, 0, 1, 1};
    for (int t = 0; t < 10; ++t) {
        run.run(t == 2 || t == 8 ? clipped : plain);
        EXPECT_EQ(run.counts.saturated, static_cast<std::uint64_t>(expected[static_cast<std::size_t>(t)]))
            << t;
        run.run(t == 2 || t == 8 ? clipped : plain, true);
        EXPECT_EQ(run.counts.saturated, static_cast<std::uint64_t>(expected[static_cast<std::size_t>(t)]))
            << "again " << t;
    }
}

TEST(Temporal, ARepeatedFrameIsNotAddedTwice) {
    std::mt19937_64 random = test_random(7);
    StageRunner run("temporal", {"frames=5"}, {8, 3, 1, PixelType::u8});
    LastFrames<std::uint8_t> window(5);
    for (int t = 0; t < 12; ++t) {
        const TestImage<std::uint8_t> frame = uniform_image<std::uint8_t>(8, 3, 0, 200, random);
        window.add(frame);
        run.set({"frames=5", "output=sfi"});
        run.run(frame, t == 0); // the first frame is added even so: the window is empty
        run.set({"frames=5", "output=tau"});
        run.run(frame, true);
        EXPECT_EQ(run.held(), window.held());
        expect_temporal(run, window, ContrastOutput::tau, 255, "frame " + std::to_string(t));
    }
}

TEST(Temporal, ResetStartsAfresh) {
    std::mt19937_64 random = test_random(8);
    StageRunner run("temporal", {"frames=5"}, {8, 3, 1, PixelType::f32});
    LastFrames<float> window(5);
    run.info.full_scale = 90;
    for (int t = 0; t < 30; ++t) {
        if (t == 8 || t == 10) {
            run.stage().reset();
            window.clear();
            EXPECT_EQ(run.held(), 0);
        }
        const TestImage<float> frame = uniform_image<float>(8, 3, 0.5, 100, random);
        window.add(frame);
        run.run(frame);
        EXPECT_EQ(run.held(), window.held());
        expect_temporal(run, window, ContrastOutput::sfi, 90, "frame " + std::to_string(t));
    }
}

TEST(Temporal, TheCamerasExposureCounts) {
    std::mt19937_64 random = test_random(9);
    StageRunner run("temporal", {"frames=3", "exposure=4", "output=tau"}, {8, 3, 1, PixelType::u8});
    TestImage<std::uint8_t> frame(8, 3);
    const auto tau = [&](double exposure_ms) {
        run.info.exposure_ms = exposure_ms;
        run.run(frame, true);
        return static_cast<double>(run.output.at(1, 1));
    };
    for (int t = 0; t < 3; ++t)
        run.run(frame = uniform_image<std::uint8_t>(8, 3, 1, 200, random));
    EXPECT_NEAR(tau(8) / tau(std::nan("")), 2, 1e-6);
}

TEST(Temporal, RefusesWhatDoesNotFitAndNamesTheLimit) {
    const HistoryBytes bytes{.frame = 1'000'000'000, .other = 500'000'000};
    check_history("stage temporal", "this computer", 4, bytes, 4'500'000'000);
    try {
        check_history("stage temporal", "this computer", 100, bytes, 8'700'000'000);
        FAIL() << "100 GB were accepted";
    } catch (const UsageError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("100500000000 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("at most frames = 8"), std::string::npos) << text;
    }
    EXPECT_GT(available_host_memory(), std::size_t{1} << 20);
}

TEST(Temporal, RealDataHasTheKnownContrast) {
    const std::string path = test_data("finger_64x64x1000_mono8.png");
    for (const auto& [frames, expected] : {std::pair{25, 0.25394}, {49, 0.27063}, {100, 0.28782}}) {
        const std::unique_ptr<ImageReader> reader = open_image(path);
        ASSERT_EQ(reader->next_page(), (Shape{64, 64000, 1, PixelType::u8}));
        StageRunner run("temporal", {"frames=" + std::to_string(frames), "output=contrast"},
                        {64, 64, 1, PixelType::u8});
        TestImage<std::uint8_t> frame(64, 64);
        for (int t = 0; t < frames; ++t) {
            reader->read_rows(frame.view());
            run.run(frame);
        }
        double sum = 0;
        for (int y = 0; y < 64; ++y)
            for (int x = 0; x < 64; ++x)
                sum += run.output.at(x, y);
        EXPECT_NEAR(sum / 4096, expected, 6e-6) << frames << " frames";
    }
}

} // namespace specklescope::test::temporal_test
