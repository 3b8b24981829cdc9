// The simulated source against its own truth: contrast, flow, means, repetition, pace.
//
// Tolerances. The relative standard error of a variance from n independent samples of a distribution with
// excess kurtosis e is √((e + 2)/n). Speckle of contrast K is close to a gamma distribution: e = 6·K².
// Samples are not independent: n pixels count as n/A with the correlation area A = (Σ c(Δ)/c(0))² of the
// squared covariance, about 4 px for speckle = 2. A frame of 512² at K ≤ 0.92 has a relative error of K² of
// at most √(7.1/(262144/4)) = 1.0 %, of K 0.5 %; the mean of the intensity is in error by K/√(n/A') ≤
// 0.9·√(8/262144) = 0.5 %. Averages over f frames gain √f. All are deterministic: the seeds are fixed. 5
// standard errors are allowed.
#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/simulated_scene.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace specklescope::test::synthetic_test {

struct Moments {
    double mean = 0, contrast2 = 0; ///< of all pixels of all frames
};

std::vector<Delivered> frames_of(const std::string& text, std::size_t count) {
    const auto source = make_source(text, {});
    (void)source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port, count, std::chrono::minutes(2)));
    source->close();
    return port.frames;
}

double value(const Delivered& frame, std::size_t i) {
    return frame.shape.type == PixelType::u8 ? frame.data<std::uint8_t>()[i] : frame.data<std::uint16_t>()[i];
}

Moments moments(const std::vector<Delivered>& frames) {
    double s = 0;
    double q = 0;
    double n = 0;
    for (const Delivered& frame : frames)
        for (std::size_t i = 0; i < frame.shape.pixels(); ++i) {
            const double v = value(frame, i);
            s += v;
            q += v * v;
            n += 1;
        }
    const double mean = s / n;
    return {mean, (q / n - mean * mean) / (mean * mean)};
}

/// Sums over every (2w+1)² window fully inside, by brute force in float64.
struct Windowed {
    int width = 0, height = 0;          ///< of the result
    std::vector<double> mean, variance; ///< sample variance, N − 1
};
Windowed windowed(const Delivered& frame, int w) {
    const int width = frame.shape.width;
    Windowed result;
    result.width = width - 2 * w;
    result.height = frame.shape.height - 2 * w;
    const double n = (2 * w + 1) * (2 * w + 1);
    for (int y = 0; y < result.height; ++y)
        for (int x = 0; x < result.width; ++x) {
            double s = 0;
            double q = 0;
            for (int j = 0; j <= 2 * w; ++j)
                for (int i = 0; i <= 2 * w; ++i) {
                    const double v = value(frame, static_cast<std::size_t>((y + j) * width + x + i));
                    s += v;
                    q += v * v;
                }
            result.mean.push_back(s / n);
            result.variance.push_back((n * q - s * s) / (n * (n - 1)));
        }
    return result;
}

/// Expected sample variance of correlated pixels in a window: ⟨s²⟩ = (σ² − Var(window mean))·N/(N − 1).
double window_factor(const SpeckleOptics& optics, int w) {
    const int side = 2 * w + 1;
    double axis = 0;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
            axis += optics.axis_covariance(std::abs(i - j));
    const double n = side * side;
    const double of_mean = axis * axis / (n * n) / optics.beta();
    return (1 - of_mean) * n / (n - 1);
}

TEST(SpeckleField, LorentzianRowAgainstKnownValues) {
    EXPECT_DOUBLE_EQ(lorentzian_contrast2(0), 1);
    EXPECT_NEAR(lorentzian_contrast2(1), (std::exp(-2.0) + 1) / 2, 1e-15);
    EXPECT_NEAR(lorentzian_contrast2(1e4), 1e-4, 1e-8);
    // On both sides of the switch from series to closed form, compared with the sum to 12 terms in long
    // double.
    for (const double x : {1e-6, 1e-3, 0.04999, 0.05001, 0.2}) {
        long double term = 1;
        long double sum = 0;
        for (int m = 0; m < 12; ++m) {
            sum += term;
            term *= -2.0L * x / (m + 3);
        }
        EXPECT_NEAR(lorentzian_contrast2(x), static_cast<double>(sum), 1e-10) << x;
    }
    EXPECT_DOUBLE_EQ(expected_contrast(1, 0.25), 0.5 * std::sqrt(lorentzian_contrast2(1)));
}

TEST(SpeckleField, SkewIsTheTripleIntegral) {
    for (const double x : {0.0, 1e-3, 0.1, 0.2499, 0.2501, 1.0, 10.0, 100.0}) {
        double sum = 0; // midpoints of 6·∫(1 − u)·u·e^{−2xu}du
        constexpr int kPoints = 200000;
        for (int i = 0; i < kPoints; ++i) {
            const double u = (i + 0.5) / kPoints;
            sum += 6 * (1 - u) * u * std::exp(-2 * x * u);
        }
        EXPECT_NEAR(lorentzian_skew(x) / (sum / kPoints), 1, 1e-7) << x;
    }
}

TEST(SpeckleField, LooksHaveTheWantedMoments) {
    for (const double k2 : {0.9, 0.3, 0.1, 0.01, 1e-4})
        for (const double looks : {1.0, 1.3, 3.9, 4.0, 7.0, 20.0, 64.0}) {
            const double wanted = std::pow(k2, 1.5) / std::sqrt(looks);
            const LookWeights w = look_weights(0.7, k2, wanted);
            double mean = w.constant;
            double variance = 0;
            double skew = 0;
            double count = 1;
            for (const double weight : w.weight) {
                mean += weight;
                variance += weight * weight / count;
                skew += std::pow(weight, 3) / (count * count);
                count *= 4;
            }
            EXPECT_NEAR(mean, 0.7, 1e-12);
            EXPECT_NEAR(variance / k2, 1, 1e-9) << k2 << ", looks " << looks;
            EXPECT_NEAR(skew / wanted, 1, 1e-8) << k2 << ", looks " << looks;
        }
}

/// Second integral of a Gaussian: the autocovariance of averages over a pixel is its second difference.
double twice_integrated(double d, double sigma) {
    return sigma * std::sqrt(std::acos(-1.0) / 2) * d * std::erf(d / (sigma * std::sqrt(2.0))) +
           sigma * sigma * std::exp(-d * d / (2 * sigma * sigma));
}

TEST(SpeckleField, CoherenceFactorIsThatOfSquarePixels) {
    const auto averaged = [](double d, double sigma) {
        return twice_integrated(d + 1, sigma) - 2 * twice_integrated(d, sigma) +
               twice_integrated(d - 1, sigma);
    };
    for (const double speckle : {1.2, 1.5, 2.0, 3.0, 6.0}) {
        double sigma = 0.2; // of the speckle at a point: recorded neighbours correlate by 2^{−4/speckle²}
        while (averaged(1, sigma) / averaged(0, sigma) < std::exp2(-4 / (speckle * speckle)))
            sigma += 1e-5;
        const SpeckleOptics optics(speckle);
        EXPECT_NEAR(optics.beta(), std::pow(averaged(0, sigma), 2), 1e-3) << speckle;
        EXPECT_NEAR(optics.axis_covariance(1) / optics.axis_covariance(0),
                    std::exp2(-4 / (speckle * speckle)), 1e-12);
        EXPECT_LT(optics.skew(), std::pow(optics.beta(), 1.5)); // more than one mode in a pixel
        EXPECT_GT(optics.skew(), optics.beta() * optics.beta());
    }
}

TEST(Synthetic, StillSpeckleHasContrastOfTheCoherenceFactor) {
    for (const int speckle : {2, 4}) {
        const auto frames =
            frames_of("synthetic:static?width=512&height=512&noise=0&live=false&rate=0&bits=16&speckle=" +
                          std::to_string(speckle),
                      2);
        const Moments m = moments({frames[0]});
        const double beta = SpeckleOptics(speckle).beta();
        EXPECT_NEAR(std::sqrt(m.contrast2), std::sqrt(beta), 0.025 * speckle / 2) << "speckle " << speckle;
        EXPECT_EQ(frames[0].pixels, frames[1].pixels); // static and without noise
    }
}

TEST(Synthetic, UniformSceneFollowsTheModelOverThreeDecades) {
    for (const double tau : {50.0, 5.0, 1.0, 0.2, 0.1, 0.05}) {
        const auto frames =
            frames_of("synthetic:uniform?width=512&height=512&noise=0&live=false&rate=0&bits=16&tau=" +
                          to_string(ParamValue(tau)),
                      6);
        const Moments m = moments(frames);
        const double x = 5.0 / tau;
        const double truth = expected_contrast(x, SpeckleOptics(2).beta());
        // 5 standard errors of the mean of several frames, whose bands may repeat: as for 4 frames.
        EXPECT_NEAR(std::sqrt(m.contrast2) / truth, 1, 0.0125) << "tau " << tau << " ms, x " << x;
        EXPECT_NEAR(m.mean, 65535 / std::max(4.0, 1 + 8 * truth), 0.02 * m.mean);
        EXPECT_EQ(frames[0].info.exposure_ms, 5);
    }
}

TEST(Synthetic, WindowsSeeTheVarianceReducedByCorrelation) {
    // ⟨s²⟩/⟨I⟩² over all windows: averages of variances, never of K, so that only the known factor separates
    // it from K².
    const auto frames =
        frames_of("synthetic:uniform?width=300&height=300&noise=0&live=false&rate=0&bits=16&tau=1", 3);
    const SpeckleOptics optics(2);
    for (const int w : {1, 3, 5}) {
        double s2 = 0;
        double mean = 0;
        double n = 0;
        for (const Delivered& frame : frames) {
            const Windowed windows = windowed(frame, w);
            s2 += std::accumulate(windows.variance.begin(), windows.variance.end(), 0.0);
            mean += std::accumulate(windows.mean.begin(), windows.mean.end(), 0.0);
            n += static_cast<double>(windows.mean.size());
        }
        const double k2 = s2 / n / std::pow(mean / n, 2);
        const double truth = std::pow(expected_contrast(5, optics.beta()), 2) * window_factor(optics, w);
        EXPECT_NEAR(k2 / truth, 1, 0.03)
            << "window " << w; // 3·90000/4 samples, e = 1: 5 × 0.67 %, minus the edges
        // SFI = 1/(2TK²): at x = 5 the model's own value, with the same correction and tolerance.
        const double sfi = 1 / (2 * 5e-3 * k2 / window_factor(optics, w));
        EXPECT_NEAR(sfi * 2 * 5e-3 * optics.beta() * lorentzian_contrast2(5), 1, 0.03);
    }
}

TEST(Synthetic, VesselsFollowTheMapOfTrueCorrelationTimes) {
    const std::string text = "synthetic?width=640&height=512&noise=0&live=false&rate=60&bits=16";
    SyntheticOptions options;
    options.width = 640;
    options.height = 512;
    options.noise = 0;
    options.bits = 16;
    const SyntheticTruth truth = synthetic_truth(options);
    // One whole heartbeat: 50 frames at 60/s. Temporal moments of each pixel contain pulse and speckle; their
    // model is the mean of K² over the phases. Pixels are grouped by their mean rate, each group averages
    // very many samples.
    const auto frames = frames_of(text, 50);
    std::vector<double> rate(frames[0].shape.pixels(), 0.0);
    std::vector<double> model(rate.size(), 0.0);
    std::vector<float> rates;
    for (int phase = 0; phase < 24; ++phase) {
        scene_rates(truth.scene, phase / 24.0, rates);
        for (std::size_t i = 0; i < rates.size(); ++i) {
            rate[i] += static_cast<double>(rates[i]) / 24;
            model[i] += truth.beta * lorentzian_contrast2(5e-3 * static_cast<double>(rates[i])) / 24;
        }
    }
    struct Class {
        double low, high, measured = 0, expected = 0, n = 0;
    };
    std::vector<Class> classes = {{0, 900}, {900, 2000}, {2000, 4000}, {4000, 6000}, {6000, 20000}};
    double mean_ratio = 0;
    for (std::size_t i = 0; i < rate.size(); ++i) {
        const double mean = truth.mean * static_cast<double>(truth.scene.brightness[i]);
        double square = 0;
        for (const Delivered& frame : frames) {
            const double d = value(frame, i) / mean;
            mean_ratio += d;
            square += (d - 1) * (d - 1);
        }
        for (Class& c : classes)
            if (rate[i] >= c.low && rate[i] < c.high) {
                c.measured += square / static_cast<double>(frames.size());
                c.expected += model[i];
                c.n += 1;
            }
    }
    mean_ratio /= static_cast<double>(rate.size() * frames.size());
    EXPECT_NEAR(mean_ratio, 1, 0.005); // 50 frames of 327 680 pixels; saturation would show here
    for (const Class& c : classes) {
        ASSERT_GT(c.n, 300) << c.low;
        // The fewest independent samples: 300 pixels / 8 px × 24 realisations, e ≤ 1: 5·√(3/900) would be 29
        // %; classes of n pixels allow as much less.
        const double tolerance = 5 * std::sqrt(3 / (c.n / 8 * 24)) + 0.005;
        EXPECT_NEAR(c.measured / c.expected, 1, tolerance)
            << "1/τc " << c.low << "…" << c.high << ", pixels " << c.n;
    }
}

TEST(Synthetic, VesselsPulseWithTheHeart) {
    // K² of arteries and of veins in each frame of two heartbeats, against β·model of each pixel's true rate.
    SyntheticOptions options;
    options.width = 640;
    options.height = 512;
    options.noise = 0;
    options.bits = 16;
    for (const char* making : {"computed", "mixed"}) {
        const auto frames = frames_of(
            "synthetic?width=640&height=512&noise=0&live=false&rate=60&bits=16&making=" + std::string(making),
            100);
        const SyntheticTruth truth = synthetic_truth(options);
        for (const float pulse : {0.5F, 0.22F}) {
            std::vector<std::size_t> pixels;
            for (std::size_t i = 0; i < truth.scene.flow.size(); ++i)
                if (truth.scene.pulse[i] == pulse && truth.scene.flow[i] > 1000)
                    pixels.push_back(i);
            ASSERT_GT(pixels.size(), 1000U) << pulse;
            std::vector<double> measured;
            std::vector<double> expected;
            std::vector<float> rates;
            for (std::size_t f = 0; f < frames.size(); ++f) {
                const double beats = 1.2 * static_cast<double>(f) / 60;
                scene_rates(truth.scene, beats - std::floor(beats), rates);
                double square = 0;
                double model = 0;
                for (const std::size_t i : pixels) {
                    const double mean = truth.mean * static_cast<double>(truth.scene.brightness[i]);
                    square += std::pow(value(frames[f], i) / mean - 1, 2);
                    model += truth.beta * lorentzian_contrast2(5e-3 * static_cast<double>(rates[i]));
                }
                measured.push_back(square / static_cast<double>(pixels.size()));
                expected.push_back(model / static_cast<double>(pixels.size()));
            }
            // Slope and its standard error by least squares.
            const double n = static_cast<double>(frames.size());
            const double m = std::accumulate(measured.begin(), measured.end(), 0.0) / n;
            const double e = std::accumulate(expected.begin(), expected.end(), 0.0) / n;
            double both = 0;
            double own = 0;
            for (std::size_t f = 0; f < frames.size(); ++f) {
                both += (measured[f] - m) * (expected[f] - e);
                own += (expected[f] - e) * (expected[f] - e);
            }
            const double slope = both / own;
            double rest = 0;
            for (std::size_t f = 0; f < frames.size(); ++f)
                rest += std::pow(measured[f] - m - slope * (expected[f] - e), 2);
            const double error = std::sqrt(rest / (n - 2) / own);
            std::printf("%s, pulse %.2f: %zu px, K2 %.4f of %.4f, slope %.3f +- %.3f\n", making,
                        static_cast<double>(pulse), pixels.size(), m, e, slope, error);
            EXPECT_NEAR(m / e, 1, 0.03) << making << ", pulse " << pulse;
            EXPECT_NEAR(slope, 1, 4 * error) << making << ", pulse " << pulse;
            EXPECT_LT(error, 0.1) << making << ", pulse " << pulse;
        }
    }
}

TEST(Synthetic, PulseHasNoMean) {
    double sum = 0;
    for (int i = 0; i < 1000; ++i)
        sum += pulse_wave(i / 1000.0);
    EXPECT_NEAR(sum / 1000, 0, 1e-3);
}

TEST(Synthetic, NoiseMatchesTheCamera) {
    // A very fast scene has no speckle: only noise is left. 20 000 electrons at full scale, 6 read, rounding
    // 1/12.
    const auto frames =
        frames_of("synthetic:uniform?width=512&height=512&live=false&rate=0&tau=0.0001&noise=3", 1);
    const Moments m = moments(frames);
    const double gain = 4095.0 / 20000;
    const double variance = 9 * (gain * m.mean + 36 * gain * gain) + 1.0 / 12;
    const double speckle = std::pow(expected_contrast(5 / 0.0001, SpeckleOptics(2).beta()) * m.mean, 2);
    EXPECT_NEAR(m.contrast2 * m.mean * m.mean / (variance + speckle), 1, 5 * std::sqrt(2.0 / 262144));
}

TEST(Synthetic, DepthsMeansAndHistogramArePlausible) {
    for (const int bits : {8, 10, 12, 16}) {
        const auto frames =
            frames_of("synthetic?width=640&height=512&live=false&rate=0&bits=" + std::to_string(bits), 1);
        const Delivered& frame = frames[0];
        const double full = std::exp2(bits) - 1;
        EXPECT_EQ(frame.shape.type, bits == 8 ? PixelType::u8 : PixelType::u16);
        EXPECT_EQ(frame.info.full_scale, full);
        double saturated = 0;
        double mean = 0;
        for (std::size_t i = 0; i < frame.shape.pixels(); ++i) {
            ASSERT_LE(value(frame, i), full);
            saturated += value(frame, i) == full ? 1 : 0;
            mean += value(frame, i);
        }
        mean /= static_cast<double>(frame.shape.pixels());
        EXPECT_LT(saturated / static_cast<double>(frame.shape.pixels()), 1e-3);
        EXPECT_GT(mean / full, 0.12); // 12 bits: about 500…1000
        EXPECT_LT(mean / full, 0.25);
    }
}

TEST(Synthetic, SameSeedSameFramesOtherSeedOthers) {
    const std::string text = "synthetic?width=200&height=160&live=false&rate=0&seed=";
    const auto a = frames_of(text + "5", 8);
    const auto b = frames_of(text + "5", 8);
    const auto c = frames_of(text + "6", 8);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(a[i].pixels, b[i].pixels) << i;
        EXPECT_NE(a[i].pixels, c[i].pixels) << i;
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            EXPECT_NE(a[i].pixels, a[earlier].pixels) << i << " and " << earlier;
    }
}

TEST(Synthetic, AwkwardSizes) {
    for (const char* size :
         {"width=1&height=1", "width=17&height=13", "width=1&height=300", "width=2100&height=5"}) {
        const auto frames = frames_of(std::string("synthetic?live=false&rate=0&speckle=10&") + size, 2);
        EXPECT_EQ(frames.size(), 2U) << size;
    }
}

TEST(Synthetic, EndsAfterItsFramesAndDropsOnlyWhenLive) {
    EXPECT_EQ(frames_of("synthetic:uniform?width=64&height=64&live=false&rate=0&frames=7", 100).size(), 7U);
    const auto live = make_source("synthetic:uniform?width=64&height=64&rate=200&frames=6", {});
    EXPECT_TRUE(live->open().live);
    TestPort port;
    port.refuse = true;
    for (int given = 0; given < 2;) // no slot for two frames
        given += live->next(port) == Source::Status::frame ? 1 : 0;
    port.refuse = false;
    ASSERT_TRUE(read_frames(*live, port));
    ASSERT_EQ(port.frames.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) // on schedule, lost ones counted
        EXPECT_NEAR(static_cast<double>(port.frames[i].info.capture_ns), static_cast<double>(i + 2) * 5e6,
                    1.0);
    const auto waits = make_source("synthetic:uniform?width=64&height=64&rate=0", {});
    EXPECT_FALSE(waits->open().live); // as fast as possible: no drops
}

TEST(Synthetic, AtSpeedZeroAFrameIsAlwaysDue) {
    const auto source =
        make_source("synthetic:uniform?width=64&height=64&live=false&rate=1&speed=0&frames=6", {});
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 1));
    for (int i = 1; i < 6; ++i)
        EXPECT_EQ(source->next(port), Source::Status::frame) << i;
    for (std::size_t i = 0; i < port.frames.size(); ++i) // the same at any speed
        EXPECT_NEAR(static_cast<double>(port.frames[i].info.capture_ns), static_cast<double>(i) * 1e9, 1.0);
}

TEST(Synthetic, EditsTakeEffectWhileOpen) {
    const auto source = make_source("synthetic:uniform?width=64&height=64&live=false&rate=0", {});
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 1));
    source->set("width", std::int64_t{80});
    source->set("bits", std::int64_t{8});
    ASSERT_TRUE(read_frames(*source, port, 2));
    EXPECT_EQ(port.frames[1].shape, (Shape{80, 64, 1, PixelType::u8}));
    EXPECT_EQ(port.frames[1].info.full_scale, 255);
    source->close(); // probably while its cache is being made
}

} // namespace specklescope::test::synthetic_test
