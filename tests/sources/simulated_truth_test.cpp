// Frames of the simulated source against the theory of speckle: contrast, third moment, correlation between
// frames, size, photons, and averages that converge.
//
// Errors are measured, not assumed: each frame (or pair of frames) gives one value, and the standard error is
// that of their mean. A theory is met within |z| ≤ 3 of it plus the stated systematic part. Saturated pixels
// lower the second moment by up to 0.3 % and the third by up to 2 %.
#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/speckle_field.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace specklescope::test::simulated_truth_test {

struct Sample {
    double mean = 0, error = 0;
};

Sample sample_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return {mean, std::sqrt(squares / (n - 1) / n)};
}

/// Frames without noise over their mean, minus 1.
std::vector<std::vector<double>> frames_of(const std::string& options, std::size_t count) {
    const std::string text = "synthetic:" + options + "&bits=16&live=false&speed=0";
    const auto source = make_source(text, {});
    (void)source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port, count, std::chrono::minutes(2)));
    std::vector<std::vector<double>> frames;
    double sum = 0;
    for (const Delivered& frame : port.frames) {
        const std::uint16_t* pixels = frame.data<std::uint16_t>();
        frames.emplace_back(pixels, pixels + frame.shape.pixels());
        sum += std::accumulate(frames.back().begin(), frames.back().end(), 0.0);
    }
    const double mean = sum / static_cast<double>(frames.size() * frames[0].size());
    for (auto& frame : frames)
        for (double& value : frame)
            value = value / mean - 1;
    return frames;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b, std::size_t shift = 0) {
    double sum = 0;
    for (std::size_t i = shift; i < a.size(); ++i)
        sum += a[i] * b[i - shift];
    return sum / static_cast<double>(a.size() - shift);
}

std::string number(double value) { return to_string(ParamValue(value)); }

/// Independent frames (exposures 20 correlation times apart), 16 of 256², a quarter of the patterns' area.
TEST(SimulatedTruth, ContrastAndThirdMomentFollowTheoryOverFourDecades) {
    for (const double speckle : {2.0, 4.0}) {
        const SpeckleOptics optics(speckle);
        for (const double x : {0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0}) {
            const double tau_ms = 1;
            const int seed = static_cast<int>(speckle * 100 + x * 7);
            const auto frames = frames_of(
                "uniform?width=256&height=256&noise=0&tau=1&exposure=" + number(x * tau_ms) +
                    "&speckle=" + number(speckle) + "&rate=" + number(1e3 / (x * tau_ms + 20 * tau_ms)) +
                    "&seed=" + std::to_string(seed),
                16);
            std::vector<double> second;
            std::vector<double> third;
            for (const auto& frame : frames) {
                second.push_back(mean_product(frame, frame));
                double cubes = 0;
                for (const double value : frame)
                    cubes += value * value * value;
                third.push_back(cubes / static_cast<double>(frame.size()));
            }
            const double theory2 = optics.beta() * lorentzian_contrast2(x);
            const double theory3 = 2 * optics.skew() * lorentzian_skew(x);
            const Sample k2 = sample_of(second);
            const Sample k3 = sample_of(third);
            SCOPED_TRACE("speckle " + number(speckle) + " px, x " + number(x) + ", seed " +
                         std::to_string(seed));
            EXPECT_LE(std::abs(k2.mean - theory2), 3 * k2.error + 0.003 * theory2) << theory2;
            EXPECT_LE(std::abs(k3.mean - theory3), 3 * k3.error + 0.02 * theory3) << theory3;
        }
    }
}

/// Correlation of frames 1, 2 and 5 apart: the double integral of e^{−2|t − t′|/τ} over both exposures.
TEST(SimulatedTruth, FramesCorrelateAsTheFieldDoes) {
    struct Case {
        double tau_ms, rate, exposure_ms;
    };
    for (const auto& [tau, rate, exposure] : {Case{100000, 50, 5},
                                              {1000, 50, 5},
                                              {100, 50, 5},
                                              {20, 50, 20},
                                              {5, 100, 2},
                                              {2, 200, 5},
                                              {1, 60, 5}}) {
        SCOPED_TRACE("tau " + number(tau) + " ms, rate " + number(rate) + "/s, seed 4");
        const auto frames = frames_of("uniform?width=256&height=256&noise=0&seed=4&tau=" + number(tau) +
                                          "&rate=" + number(rate) + "&exposure=" + number(exposure),
                                      60);
        for (const std::size_t lag : {1, 2, 5}) {
            const double apart = 1e3 / rate * static_cast<double>(lag);
            const double x = exposure / tau;
            const double theory =
                std::exp(-2 * apart / tau) * std::pow(std::sinh(x) / x, 2) / lorentzian_contrast2(x);
            std::vector<double> ratios; // frames themselves correlate: one value of each 10
            for (std::size_t first = 0; first + 10 + lag <= frames.size(); first += 10) {
                double products = 0;
                double squares = 0;
                for (std::size_t f = first; f < first + 10; ++f) {
                    products += mean_product(frames[f], frames[f + lag]);
                    squares += mean_product(frames[f], frames[f]) / 2;
                    squares += mean_product(frames[f + lag], frames[f + lag]) / 2;
                }
                ratios.push_back(products / squares);
            }
            const Sample c = sample_of(ratios);
            // The mean of slow frames is not that of many speckles: up to 8 px / 65536 px of the variance.
            EXPECT_LE(std::abs(c.mean - theory), 3 * c.error + 0.002) << "lag " << lag << ": " << theory;
        }
    }
}

TEST(SimulatedTruth, AnEndlessCorrelationTimeIsAStillPattern) {
    const auto frames = frames_of("uniform?width=128&height=128&noise=0&tau=100000&rate=1000&exposure=1", 3);
    EXPECT_GT(mean_product(frames[0], frames[2]) / mean_product(frames[0], frames[0]), 0.999);
    const auto still = frames_of("static?width=128&height=128&noise=0", 2);
    EXPECT_EQ(still[0], still[1]);
}

/// The standard deviation of a mean of n frames falls as √n, also after 48 frames: of alternating signs, so
/// that brightness cancels, and of a uniform scene as it is.
TEST(SimulatedTruth, MeansOfManyFramesConverge) {
    for (const char* scene :
         {"uniform?tau=1&rate=60&exposure=5&noise=0", "vessels?rate=60&exposure=5&noise=0"}) {
        const auto frames = frames_of(std::string(scene) + "&width=64&height=64&seed=11", 300);
        const auto n = static_cast<double>(frames.size());
        double squares = 0;
        double alternating = 0;
        double plain = 0;
        for (std::size_t i = 0; i < frames[0].size(); ++i) {
            double sum = 0;
            double signs = 0;
            double square = 0;
            for (std::size_t f = 0; f < frames.size(); ++f) {
                sum += frames[f][i];
                signs += (f % 2 == 0 ? 1 : -1) * frames[f][i];
                square += frames[f][i] * frames[f][i];
            }
            squares += (square - sum * sum / n) / (n - 1);
            alternating += signs * signs / n;
            plain += sum * sum / n;
        }
        // 64² pixels of 8 px each: 5 standard errors of a variance are 5·√(2·8/4096) = 31 %, of its root 16
        // %.
        EXPECT_NEAR(std::sqrt(alternating / squares), 1, 0.16) << scene;
        if (std::string(scene).starts_with("uniform")) {
            EXPECT_NEAR(std::sqrt(plain / squares), 1, 0.16) << scene;
        }
    }
}

/// Full width at half maximum of the recorded image's autocovariance within 2 %, from neighbours along rows.
TEST(SimulatedTruth, SpeckleHasItsSizeInTheRecordedImage) {
    for (const double speckle : {1.0, 1.5, 2.0, 3.0}) {
        const auto frames = frames_of(
            "uniform?width=512&height=512&noise=0&tau=1&exposure=3&rate=50&seed=8&speckle=" + number(speckle),
            12);
        double neighbours = 0;
        double same = 0;
        for (const auto& frame : frames) {
            neighbours += mean_product(frame, frame, 1); // one pair in 512 spans two rows
            same += mean_product(frame, frame);
        }
        const double measured = 2 / std::sqrt(-std::log2(neighbours / same * 512 / 511));
        EXPECT_NEAR(measured / speckle, 1, 0.02) << speckle;
    }
}

/// Photons: variance and third cumulant of a Poisson number equal its mean. One frame of 512² without
/// speckle.
TEST(SimulatedTruth, PhotonsAreCounted) {
    for (const double noise :
         {2.0, 5.0, 8.0, 20.0}) { // 1250 … 12.5 electrons, a few in the darkest case below
        const auto source =
            make_source("synthetic:uniform?width=512&height=512&bits=16&live=false&speed=0&tau=0.0001&"
                        "exposure=100&rate=5&seed=2&noise=" +
                            number(noise),
                        {});
        (void)source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port, 1));
        const double gain = 65535.0 / 20000 * noise * noise; // DN per electron
        const double read = 6 / noise;                       // electrons
        double mean = 0;
        double square = 0;
        double cube = 0;
        const auto n = static_cast<double>(port.frames[0].shape.pixels());
        const std::uint16_t* pixels = port.frames[0].data<std::uint16_t>();
        for (std::size_t i = 0; i < port.frames[0].shape.pixels(); ++i)
            mean += pixels[i] / gain / n;
        for (std::size_t i = 0; i < port.frames[0].shape.pixels(); ++i) {
            const double d = pixels[i] / gain - mean;
            square += d * d / n;
            cube += d * d * d / n;
        }
        const double variance = mean + read * read + 1 / (12 * gain * gain);
        EXPECT_NEAR(square / variance, 1, 5 * std::sqrt(2 / n) + 1e-3) << mean << " electrons";
        EXPECT_NEAR(cube, mean, 5 * std::sqrt(15 * std::pow(variance, 3) / n)) << mean << " electrons";
    }
}

/// A frame is computed from its number: after a seek it has the same pixels.
TEST(SimulatedTruth, ASeekGivesTheSamePixels) {
    for (const char* scene :
         {"uniform?tau=200&rate=100", "vessels?rate=100", "uniform?tau=0.1", "static?noise=1"}) {
        const auto source =
            make_source("synthetic:" + std::string(scene) + "&width=70&height=50&live=false&speed=0", {});
        (void)source->open();
        TestPort played;
        ASSERT_TRUE(read_frames(*source, played, 12));
        for (const std::uint64_t frame : {7, 3, 11}) {
            source->seek(frame, 0);
            TestPort sought;
            ASSERT_TRUE(read_frames(*source, sought, 1));
            EXPECT_EQ(sought.frames[0].pixels, played.frames[frame].pixels) << scene << " " << frame;
        }
    }
}

} // namespace specklescope::test::simulated_truth_test
