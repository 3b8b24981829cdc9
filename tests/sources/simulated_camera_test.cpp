// Options of the simulated source that add what a real recording has: static light, motion, cycles of
// exposures, straight vessels, and the defects of a camera. Each against its own truth.
#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/synthetic_source.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace specklescope::test::simulated_camera_test {

struct Image {
    int width = 0, height = 0;
    FrameInfo info;
    std::vector<double> values;
    double at(int x, int y) const { return values[static_cast<std::size_t>(y * width + x)]; }
};

std::vector<Image> images_of(const std::string& options, std::size_t count) {
    const auto source = make_source("synthetic:" + options + "&bits=16&live=false&speed=0", {});
    (void)source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port, count, std::chrono::minutes(2)));
    std::vector<Image> images;
    for (const Delivered& frame : port.frames) {
        const std::uint16_t* pixels = frame.data<std::uint16_t>();
        images.push_back(
            {frame.shape.width, frame.shape.height, frame.info, {pixels, pixels + frame.shape.pixels()}});
    }
    return images;
}

double mean_of(const Image& image) {
    return std::accumulate(image.values.begin(), image.values.end(), 0.0) /
           static_cast<double>(image.values.size());
}

double covariance(const Image& a, const Image& b) {
    const double mean_a = mean_of(a);
    const double mean_b = mean_of(b);
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i)
        sum += (a.values[i] / mean_a - 1) * (b.values[i] / mean_b - 1);
    return sum / static_cast<double>(a.values.size());
}

std::string number(double value) { return to_string(ParamValue(value)); }

/// Parthasarathy 2008: K²/β = ρ²L(x) + 4ρ(1 − ρ)(e^{−x} − 1 + x)/x² + (1 − ρ)². Frames far apart correlate by
/// (1 − ρ)². The still pattern is the same in all frames: one realisation of 512², 2 px, so a relative error
/// of √(8·4/512²) = 1.1 % of its part; 4 of these are allowed.
TEST(SimulatedCamera, StaticLightInterferes) {
    for (const double rho : {0.9, 0.6, 0.3})
        for (const double x : {0.3, 2.0, 20.0}) {
            SCOPED_TRACE("rho " + number(rho) + ", x " + number(x));
            const auto images =
                images_of("uniform?width=512&height=512&noise=0&seed=6&tau=1&exposure=" + number(x) +
                              "&rate=20&rho=" + number(rho),
                          6);
            const double beta = SpeckleOptics(2).beta();
            const double still = beta * (1 - rho) * (1 - rho);
            const double k2 = beta * rho * rho * lorentzian_contrast2(x) +
                              beta * 4 * rho * (1 - rho) * (std::exp(-x) - 1 + x) / (x * x) + still;
            double measured = 0;
            double common = 0;
            for (std::size_t i = 0; i < images.size(); ++i) {
                measured += covariance(images[i], images[i]) / static_cast<double>(images.size());
                if (i > 0)
                    common += covariance(images[i - 1], images[i]) / static_cast<double>(images.size() - 1);
            }
            EXPECT_NEAR(measured, k2, 0.02 * k2 + 0.045 * still);
            EXPECT_NEAR(common, still, 0.045 * still + 0.006 * k2);
        }
}

/// Whole pixels: the next frame is the same scene, displaced. Parts of a pixel: the second of two half steps.
TEST(SimulatedCamera, ASceneDrifts) {
    const auto whole = images_of("static?width=90&height=70&noise=0&drift_x=3&drift_y=-2", 3);
    for (int y = 5; y < 60; ++y)
        for (int x = 10; x < 80; ++x)
            ASSERT_EQ(whole[2].at(x, y), whole[0].at(x - 6, y + 4)) << x << " " << y;
    const auto half = images_of("static?width=400&height=300&noise=0&speckle=3&drift_x=0.5&drift_y=0.25", 5);
    double different = 0;
    double contrast = 0;
    for (int y = 10; y < 290; ++y)
        for (int x = 10; x < 390; ++x) {
            ASSERT_EQ(half[4].at(x, y), half[0].at(x - 2, y - 1));
            // A quarter and three quarters on either side of a whole step have the same mean.
            different += half[1].at(x, y) - half[0].at(x, y);
        }
    EXPECT_NEAR(different / (280 * 380) / mean_of(half[0]), 0, 0.005);
    contrast = covariance(half[1], half[1]) / covariance(half[0], half[0]);
    EXPECT_NEAR(contrast, 1, 0.02); // interpolation keeps the contrast
}

TEST(SimulatedCamera, ShakeAndBeatHaveTheirSize) {
    SyntheticOptions options;
    options.shake = 0.7;
    double squares = 0;
    constexpr int kFrames = 4000;
    for (std::uint64_t i = 0; i < kFrames; ++i) {
        const SceneShift shift = scene_shift(options, i, 0);
        squares += (shift.x * shift.x + shift.y * shift.y) / 2 / kFrames;
    }
    EXPECT_NEAR(std::sqrt(squares), 0.7, 5 * 0.7 / std::sqrt(4.0 * kFrames));
    options.shake = 0;
    options.beat = 2;
    for (const double phase : {0.0, 0.2, 0.5}) {
        EXPECT_NEAR(scene_shift(options, 7, (3 + phase) / kPulseRate).y, 2 * pulse_wave(phase), 1e-9);
        EXPECT_EQ(scene_shift(options, 7, (3 + phase) / kPulseRate).x, 0);
    }
}

/// Each frame has the exposure of its number, states it, and has the contrast of it at the same mean.
TEST(SimulatedCamera, ExposuresCycle) {
    const std::vector<double> exposures = {0.2, 1, 5, 25};
    const auto images =
        images_of("uniform?width=256&height=256&noise=0&tau=1&rate=10&exposures=0.2,1,5,25", 24);
    std::vector<double> k2(exposures.size(), 0.0);
    for (std::size_t i = 0; i < images.size(); ++i) {
        EXPECT_EQ(images[i].info.exposure_ms, exposures[i % 4]);
        EXPECT_NEAR(mean_of(images[i]) / mean_of(images[0]), 1, 0.06);
        k2[i % 4] += covariance(images[i], images[i]) / 6;
    }
    for (std::size_t e = 0; e < exposures.size(); ++e) // 6 of 256², e ≤ 6: 5·√(8·4/(6·65536)) = 4.5 %
        EXPECT_NEAR(k2[e] / (SpeckleOptics(2).beta() * lorentzian_contrast2(exposures[e])), 1, 0.045) << e;
    for (const char* text : {"1,,2", "1,x", "0", "1;2", "1,20000", "nan"})
        EXPECT_THROW((void)make_source(std::string("synthetic?exposures=") + text, {}), UsageError) << text;
    EXPECT_THROW((void)make_source("synthetic?making=mixed&exposures=1,2", {}), UsageError);
    EXPECT_THROW((void)make_source("synthetic?making=mixed&drift_x=1", {}), UsageError);
}

TEST(SimulatedCamera, StraightVesselsHaveTheirWidth) {
    const SceneMaps maps = straight_scene(200, 4, 1000, 0, 12.5);
    double faster = 0;
    for (int x = 0; x < 200; ++x) {
        const double part = static_cast<double>(maps.flow[static_cast<std::size_t>(x)]) / 900;
        faster += part;
        EXPECT_NEAR(static_cast<double>(maps.still[static_cast<std::size_t>(x)]), 100, 1e-3);
        EXPECT_EQ(maps.flow[static_cast<std::size_t>(x)], maps.flow[static_cast<std::size_t>(600 + x)]);
    }
    EXPECT_NEAR(faster, 4 * 12.5, 1e-3); // 200 px are 4 periods of 50 px
}

TEST(SimulatedCamera, FlowPulsesWithTheKnownWave) {
    // K² at the beat's phases: 1/τc(1 + 0.6·wave).
    const auto images =
        images_of("uniform?width=256&height=256&noise=0&tau=0.5&exposure=5&rate=12&pulse=0.6", 10);
    for (std::size_t i = 0; i < images.size(); ++i) {
        const double phase = std::fmod(static_cast<double>(i) / 12 * kPulseRate, 1);
        const double theory =
            SpeckleOptics(2).beta() * lorentzian_contrast2(10 * (1 + 0.6 * pulse_wave(phase)));
        EXPECT_NEAR(covariance(images[i], images[i]) / theory, 1, 0.05) << i; // 5·√(3·4/65536) = 7 % at most
    }
}

TEST(SimulatedCamera, DefectsAreWhereTheyAre) {
    const std::string scene = "uniform?width=128&height=96&tau=0.0001&exposure=100&rate=5&noise=0&seed=3";
    const Image clean = images_of(scene, 1)[0];
    const Image offset = images_of(scene + "&offset=500", 1)[0];
    for (std::size_t i = 0; i < clean.values.size(); ++i)
        ASSERT_NEAR(offset.values[i], clean.values[i] + 500, 1);

    const auto uneven = images_of(scene + "&pattern=4", 2); // K of the speckle is below 0.1 %
    const double mean = mean_of(clean);
    double squares = 0;
    for (std::size_t i = 0; i < clean.values.size(); ++i)
        squares += std::pow(uneven[0].values[i] / clean.values[i] - 1, 2);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(clean.values.size())), 0.04,
                0.04 * 5 / std::sqrt(2 * 12288.0));
    EXPECT_GT(covariance(uneven[0], uneven[1]), 0.9 * covariance(uneven[0], uneven[0])); // fixed

    const auto bad = images_of(scene + "&bad_pixels=20", 2);
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < clean.values.size(); ++i)
        if (bad[0].values[i] != clean.values[i]) {
            EXPECT_TRUE(bad[0].values[i] == 0 || bad[0].values[i] == 65535) << i;
            EXPECT_EQ(bad[0].values[i], bad[1].values[i]) << i;
            found.insert(i);
        }
    EXPECT_GE(found.size(), 18U); // two may fall on one pixel
    EXPECT_LE(found.size(), 20U);

    const Image hot = images_of(scene + "&hot_columns=3", 1)[0];
    int columns = 0;
    for (int x = 0; x < 128; ++x) {
        const double more = hot.at(x, 0) - clean.at(x, 0);
        columns += more > 0 ? 1 : 0;
        EXPECT_TRUE(more == 0 || (more >= 0.02 * 65535 - 1 && more <= 0.1 * 65535 + 1)) << x;
        EXPECT_NEAR(hot.at(x, 50) - clean.at(x, 50), more, 1) << x;
    }
    EXPECT_GE(columns, 2);
    EXPECT_LE(columns, 3);
    EXPECT_GT(mean, 0);
}

/// Mixed frames are bands of right frames, the same each time.
TEST(SimulatedCamera, MixedFramesHaveTheContrast) {
    const std::string text = "uniform?width=256&height=256&noise=0&tau=1&exposure=5&making=mixed";
    const auto a = images_of(text, 12);
    const auto b = images_of(text, 12);
    double k2 = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].values, b[i].values) << i;
        k2 += covariance(a[i], a[i]) / static_cast<double>(a.size());
    }
    EXPECT_NEAR(k2 / (SpeckleOptics(2).beta() * lorentzian_contrast2(5)), 1, 0.03);
}

} // namespace specklescope::test::simulated_camera_test
