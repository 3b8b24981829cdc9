// Contrast with corrections, and several images from one pass, on the host: values in float64 from the
// formulas of docs/science.md, means and intervals on scenes of known K².
#include "stages/contrast_finish.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/stage_runner.hpp"

#include <complex>
#include <numbers>
#include <optional>

namespace specklescope::test::contrast_finish_test {

using Texts = std::vector<std::string>;

const Texts kOutputs = {"sfi", "contrast", "contrast2", "tau", "bfi", "mean", "error"};
const Texts kCorrections = {"gain=0.3", "read_noise=2.5", "black=7"};

Texts operator+(Texts a, const Texts& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct Images {
    std::vector<TestImage<float>> all; ///< the output and its named outputs
    PixelCounts counts;
};

/// The last results after all frames.
template <class T>
Images run_all(const std::string& name, const Texts& texts, const std::vector<TestImage<T>>& frames) {
    const Params params = params_of(name, texts);
    const StageType& type = find_stage(name);
    const std::unique_ptr<HostStage> stage = type.make_host(params);
    const Shape shape = stage->prepare(frames.front().shape());
    Images images;
    const std::size_t named = type.also(params, Quantity{}).size();
    images.all.assign(1 + named, TestImage<float>(shape.width, shape.height, 3));
    std::vector<HostView> views;
    for (TestImage<float>& image : images.all)
        views.push_back(image.view());
    for (const TestImage<T>& frame : frames) {
        images.counts = {};
        stage->run(frame.view(), views[0],
                   {.info = {}, .counts = images.counts, .also = std::span(views).subspan(1)});
    }
    return images;
}

/// Equal bits, or both NaN.
void expect_same(const TestImage<float>& a, const TestImage<float>& b, const std::string& where) {
    for (int y = 0; y < a.shape().height; ++y)
        for (int x = 0; x < a.shape().width; ++x) {
            const float one = a.at(x, y), other = b.at(x, y);
            ASSERT_TRUE(std::memcmp(&one, &other, sizeof one) == 0 || (std::isnan(one) && std::isnan(other)))
                << where << " at " << x << ", " << y << ": " << one << " and " << other;
        }
}

struct Case {
    std::string stage;
    Texts texts;
};
std::vector<Case> every_case() {
    std::vector<Case> cases{{"temporal", {"frames=4"}}};
    for (const char* border : {"replicate", "reflect", "crop", "zero", "omit"})
        for (const char* radius : {"radius=1", "radius=3"}) {
            cases.push_back({"speckle", {radius, std::string("border=") + border}});
            if (std::string(border) != "omit")
                cases.push_back({"spatiotemporal", {radius, "frames=3", std::string("border=") + border}});
        }
    return cases;
}

class ContrastFinishTargets : public EveryInstructionSet {};

template <class T> void expect_named_outputs(const Case& one, const std::vector<TestImage<T>>& frames) {
    for (const Texts& corrections : {Texts{}, kCorrections}) {
        const Texts texts = one.texts + corrections;
        const Images several =
            run_all(one.stage, texts + Texts{"also=sfi+contrast+contrast2+tau+bfi+mean+error"}, frames);
        ASSERT_EQ(several.all.size(), 1 + kOutputs.size());
        for (std::size_t i = 0; i < kOutputs.size(); ++i) {
            const std::string where = one.stage + " " + to_string(frames.front().shape()) + " " +
                                      testing::PrintToString(texts) + " " + kOutputs[i];
            const Images alone = run_all(one.stage, texts + Texts{"output=" + kOutputs[i]}, frames);
            expect_same(several.all[1 + i], alone.all[0], where);
            if (i == 0) {
                expect_same(several.all[0], alone.all[0], where);
                EXPECT_EQ(several.counts, alone.counts) << where;
            }
        }
    }
}

TEST_P(ContrastFinishTargets, NamedOutputsAreTheOutputs) {
    std::mt19937_64 random = test_random(1);
    for (const Case& one : every_case()) {
        std::vector<TestImage<std::uint8_t>> bytes;
        std::vector<TestImage<std::uint16_t>> words, wide;
        std::vector<TestImage<float>> reals;
        for (int i = 0; i < 5; ++i) {
            bytes.push_back(uniform_image<std::uint8_t>(37, 12, 0, 255, random));
            words.push_back(speckle_image<std::uint16_t>(37, 12, 800, 4095, random));
            wide.push_back(speckle_image<std::uint16_t>(37, 12, 30000, 65535, random));
            reals.push_back(uniform_image<float>(37, 12, -0.2, 20, random));
            for (int x = 0; x < 9; ++x) // black and flat parts
                for (int y = 0; y < 12; ++y) {
                    bytes.back().at(x, y) = 0;
                    words.back().at(x + 9, y) = 123;
                    reals.back().at(x, y) = 3;
                }
        }
        expect_named_outputs(one, bytes);
        expect_named_outputs(one, words);
        expect_named_outputs(one, wide);
        expect_named_outputs(one, reals);
        expect_named_outputs(one, std::vector{uniform_image<float>(70, 12, 1, 20, random)});
        if (HasFailure())
            return;
    }
}

INSTANTIATE_TEST_SUITE_P(Highway, ContrastFinishTargets, instruction_sets(), instruction_set_name);

// --- noise ---

/// docs/science.md, Noise: K² of samples in float64.
template <class T> double noiseless(const std::vector<T>& samples, double gain, double read, double black) {
    const auto n = static_cast<double>(samples.size());
    double mean = 0, variance = 0;
    for (const T sample : samples)
        mean += static_cast<double>(sample) / n;
    for (const T sample : samples)
        variance += (static_cast<double>(sample) - mean) * (static_cast<double>(sample) - mean) / (n - 1);
    const double above = mean - black;
    const double quantisation = std::is_integral_v<T> ? 1.0 / 12 : 0;
    return n < 2 || above <= 1e-9
               ? std::nan("")
               : variance / (above * above) - gain / above - (read * read + quantisation) / (above * above);
}

/// K² and what follows from it.
void expect_values(const Images& images, int x, int y, double k2, double mean, const std::string& where) {
    const auto is = [&](std::size_t image) { return static_cast<double>(images.all[image].at(x, y)); };
    if (std::isnan(k2)) {
        EXPECT_TRUE(std::isnan(is(0))) << where;
        return;
    }
    EXPECT_NEAR(is(0), k2, 1e-6 * std::abs(k2) + 1e-11) << where; // the difference of rounded sums
    EXPECT_NEAR(is(3), mean, 1e-6 * std::abs(mean) + 1e-12) << where;
    if (k2 < 0)
        EXPECT_TRUE(std::isnan(is(1)) && std::isnan(is(2))) << where;
    else
        EXPECT_NEAR(is(1), std::sqrt(k2), 1e-6 * std::sqrt(k2) + 1e-9) << where;
}

template <class T> void expect_noiseless(const std::vector<TestImage<T>>& frames) {
    const Texts also = Texts{"output=contrast2", "also=contrast+mean+bfi"} + kCorrections;
    for (const Border border : {Border::replicate, Border::omit}) {
        const SpeckleParams window{.radius = 2, .border = border};
        const Images spatial = run_all<T>(
            "speckle", also + Texts{"radius=2", border == Border::omit ? "border=omit" : "border=replicate"},
            {frames.back()});
        for (int y = 0; y < 20; ++y)
            for (int x = 0; x < 30; ++x) {
                const std::vector<T> samples = oracle_samples(frames.back(), x, y, window);
                double mean = -7;
                for (const T sample : samples)
                    mean += static_cast<double>(sample) / static_cast<double>(samples.size());
                expect_values(spatial, x, y, noiseless(samples, 0.3, 2.5, 7), mean,
                              "speckle at " + std::to_string(x) + ", " + std::to_string(y));
            }
    }
    const Images temporal = run_all<T>("temporal", also + Texts{"frames=6"}, frames);
    const Images both = run_all<T>("spatiotemporal", also + Texts{"frames=6", "radius=2"}, frames);
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 30; ++x) {
            std::vector<T> samples, wide;
            for (std::size_t i = frames.size() - 6; i < frames.size(); ++i) {
                samples.push_back(frames[i].at(x, y));
                const auto more = oracle_samples(frames[i], x, y, {.radius = 2});
                wide.insert(wide.end(), more.begin(), more.end());
            }
            for (const auto& [images, window] : {std::pair(&temporal, &samples), std::pair(&both, &wide)}) {
                double mean = -7;
                for (const T sample : *window)
                    mean += static_cast<double>(sample) / static_cast<double>(window->size());
                expect_values(*images, x, y, noiseless(*window, 0.3, 2.5, 7), mean,
                              "over time at " + std::to_string(x) + ", " + std::to_string(y));
            }
        }
}

TEST(ContrastFinish, NoiseMatchesTheFormula) {
    std::mt19937_64 random = test_random(2);
    std::vector<TestImage<std::uint8_t>> bytes;
    std::vector<TestImage<std::uint16_t>> words;
    std::vector<TestImage<float>> reals;
    for (int i = 0; i < 8; ++i) {
        bytes.push_back(uniform_image<std::uint8_t>(30, 20, 0, 30, random)); // noise above and below 0
        words.push_back(speckle_image<std::uint16_t>(30, 20, 20000, 65535, random));
        reals.push_back(uniform_image<float>(30, 20, 5, 30, random));
    }
    expect_noiseless(bytes);
    expect_noiseless(words);
    expect_noiseless(reals);
}

/// An image of `electrons` in the mean with speckle of K², as a camera would record it.
TestImage<std::uint16_t> camera_image(int side, double electrons, double k2, std::mt19937_64& random) {
    std::gamma_distribution<double> light(1 / k2, k2 * electrons);
    std::normal_distribution<double> read(0, 3);
    return TestImage<std::uint16_t>(side, side).fill([&] {
        const double detected = std::poisson_distribution<int>(light(random))(random);
        return std::max(0.0, std::nearbyint(100 + 0.5 * detected + read(random)));
    });
}

TEST(ContrastFinish, NoiseIsRemovedWithoutBias) {
    std::mt19937_64 random(3);
    for (const double electrons : {50.0, 500.0, 5000.0})
        for (const double k2 : {0.01, 0.04, 0.16, 1.0}) {
            const auto image = camera_image(1200, electrons, k2, random);
            const auto mean_of = [&](const Texts& corrections) {
                const Images result = run_all<std::uint16_t>(
                    "speckle", corrections + Texts{"radius=7", "output=contrast2", "border=crop"}, {image});
                double sum = 0;
                const Shape shape = result.all[0].shape();
                for (int y = 0; y < shape.height; ++y)
                    for (int x = 0; x < shape.width; ++x)
                        sum += static_cast<double>(result.all[0].at(x, y));
                // The mean of 225 independent samples fluctuates: exactly K²/(1 + K²/225) for this light.
                return sum / static_cast<double>(shape.pixels()) / k2 * (1 + k2 / 225);
            };
            EXPECT_NEAR(mean_of({"gain=0.5", "read_noise=3", "black=100"}), 1, 0.01)
                << electrons << " electrons, K² = " << k2;
            EXPECT_GT(mean_of({"black=100"}), 1 + 0.5 / (electrons * k2)) << "without the correction";
        }
}

/// Windows with more noise than fluctuations: K² is negative, and K and flow are undefined and counted.
TEST(ContrastFinish, NegativeEstimatesAreKeptInSquares) {
    const TestImage<std::uint8_t> flat = TestImage<std::uint8_t>(9, 9).fill([] { return 50; });
    const auto run = [&](const std::string& output) {
        return run_all<std::uint8_t>("speckle", {"output=" + output, "gain=1"}, {flat});
    };
    const double expected = -1.0 / 50 - 1.0 / 12 / 2500;
    EXPECT_NEAR(run("contrast2").all[0].at(4, 4), expected, 1e-7);
    EXPECT_LT(run("tau").all[0].at(4, 4), 0);
    EXPECT_EQ(run("contrast2").counts.undefined, 0);
    for (const char* output : {"sfi", "contrast", "bfi", "error"})
        EXPECT_EQ(run(output).counts.undefined, 81) << output;
    EXPECT_EQ(run("mean").all[0].at(4, 4), 50);
}

// --- finite windows and standard errors ---

constexpr int kSide = 256;

/// Intensity of fully developed speckle of a round pupil, `size` px wide at half maximum; mean 1. Periodic.
class Speckle {
public:
    explicit Speckle(double size) : cutoff_(1.0290 / size / 2) {
        for (int i = 0; i < kSide; ++i)
            wave_.push_back(std::polar(1.0, 2 * std::numbers::pi * i / kSide));
    }
    void add(std::vector<double>& intensity, std::mt19937_64& random) const {
        std::normal_distribution<double> normal;
        const int most = static_cast<int>(cutoff_ * kSide);
        std::vector<std::vector<std::complex<double>>> rows; // of frequency v, at every x
        double power = 0;
        for (int v = -most; v <= most; ++v) {
            rows.emplace_back(kSide);
            for (int u = -most; u <= most; ++u) {
                if (std::hypot(u, v) > cutoff_ * kSide)
                    continue;
                const std::complex<double> amplitude(normal(random), normal(random));
                power += 2;
                for (int x = 0; x < kSide; ++x)
                    rows.back()[static_cast<std::size_t>(x)] += amplitude * wave(u * x);
            }
        }
        for (int y = 0; y < kSide; ++y) {
            std::vector<std::complex<double>> line(kSide);
            for (int v = -most; v <= most; ++v)
                for (std::size_t x = 0; x < kSide; ++x)
                    line[x] += rows[static_cast<std::size_t>(v + most)][x] * wave(v * y);
            for (std::size_t x = 0; x < kSide; ++x)
                intensity[static_cast<std::size_t>(y) * kSide + x] += std::norm(line[x]) / power;
        }
    }

private:
    std::complex<double> wave(int phase) const {
        return wave_[static_cast<std::size_t>(((phase % kSide) + kSide) % kSide)];
    }
    double cutoff_; ///< of the field, in periods per pixel
    std::vector<std::complex<double>> wave_;
};

/// Mean of K² over its truth, and the part of the windows whose interval of one standard error holds it.
struct Measured {
    double sum = 0, held = 0, windows = 0;

    void add(const Images& images, double k2) {
        const Shape shape = images.all[0].shape();
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x, ++windows) {
                const auto is = static_cast<double>(images.all[0].at(x, y));
                sum += is / k2;
                held += std::abs(is - k2) <= is * static_cast<double>(images.all[1].at(x, y)) ? 1 : 0;
            }
    }
};

TEST(ContrastFinish, WindowsAndErrorsOnSpeckle) {
    std::mt19937_64 random(4);
    constexpr int kModes = 16; // K² = 1/16
    const double electrons = 400;
    for (const double size : {1.5, 2.0, 3.0}) {
        const Speckle speckle(size);
        std::map<int, Measured> found, plain;
        for (int i = 0; i < 6; ++i) {
            std::vector<double> intensity(std::size_t{kSide} * kSide);
            for (int mode = 0; mode < kModes; ++mode)
                speckle.add(intensity, random);
            std::size_t at = 0;
            const auto image = TestImage<std::uint16_t>(kSide, kSide).fill([&] {
                const double light = intensity[at++] / kModes * electrons;
                return std::poisson_distribution<int>(light)(random) * 2;
            });
            for (const int radius : {2, 3, 5}) {
                const Texts texts{"radius=" + std::to_string(radius), "output=contrast2", "border=crop",
                                  "also=error", "gain=2"};
                char text[32];
                std::snprintf(text, sizeof text, "speckle_size=%g", size);
                found[radius].add(run_all<std::uint16_t>("speckle", texts + Texts{text}, {image}),
                                  1.0 / kModes);
                plain[radius].add(run_all<std::uint16_t>("speckle", texts, {image}), 1.0 / kModes);
            }
        }
        for (const auto& [radius, measured] : found) {
            const std::string where = std::to_string(size) + " px, radius " + std::to_string(radius);
            const double mean = measured.sum / measured.windows, held = measured.held / measured.windows;
            std::printf("%s: K² %.4f of the truth, %.4f without; intervals hold %.3f, %.3f without\n",
                        where.c_str(), mean, plain[radius].sum / plain[radius].windows, held,
                        plain[radius].held / plain[radius].windows);
            EXPECT_NEAR(mean, 1, 0.02) << where;
            EXPECT_NEAR(held, 0.68, 0.03) << where;
        }
        if (size == 2.0) {
            EXPECT_LT(plain[3].sum / plain[3].windows, 0.96);
        }
    }
}

TEST(ContrastFinish, ErrorsOfIndependentSamples) {
    std::mt19937_64 random(5);
    for (const double electrons : {100.0, 5000.0}) {
        std::vector<TestImage<std::uint16_t>> frames;
        for (int i = 0; i < 25; ++i)
            frames.push_back(camera_image(150, electrons, 0.1, random));
        Measured over_time;
        const Texts texts{"output=contrast2", "also=error", "gain=0.5", "read_noise=3", "black=100"};
        over_time.add(run_all("temporal", texts + Texts{"frames=25"}, frames), 0.1);
        EXPECT_NEAR(over_time.held / over_time.windows, 0.68, 0.02) << electrons;
        EXPECT_NEAR(over_time.sum / over_time.windows, 1, 0.02) << electrons;
    }
}

/// A window of one frame and its copies in independent frames.
TEST(ContrastFinish, CorrelationOfKnownWindows) {
    const auto alone = window_correlation(3, 0.0);
    EXPECT_DOUBLE_EQ(alone.pairs, 1.0 / 49);
    const auto small = WindowCorrelation::of_speckle(3, 0.1); // as independent samples
    EXPECT_NEAR(small.pairs, 1.0 / 49, 1e-4);
    EXPECT_NEAR(small.triples, 1.0 / (49 * 49), 1e-6);
    const auto large = WindowCorrelation::of_speckle(3, 1e4); // one speckle
    EXPECT_NEAR(large.pairs, 1, 1e-4);
    EXPECT_NEAR(large.over(10).pairs, 0.1, 1e-4);
    EXPECT_NEAR(large.over(10).rows, 0.01, 1e-4);
}

TEST(ContrastFinish, QuantitiesStateTheCorrections) {
    const StageType& type = find_stage("speckle");
    const auto quantity = [&](const Texts& texts) {
        return type.quantity(params_of("speckle", texts), Quantity{});
    };
    const Quantity plain = quantity({"output=contrast2"});
    EXPECT_EQ(plain, contrast_quantity(ContrastOutput::contrast2));
    for (const char* text : {"gain=2", "read_noise=1", "black=3", "speckle_size=2"}) {
        EXPECT_NE(quantity({"output=contrast2", text}).name, plain.name) << text;
        EXPECT_EQ(quantity({"output=contrast2", text}).measure, Measure::contrast2) << text;
    }
    const auto named = type.also(params_of("speckle", {"also=mean+contrast", "gain=2"}), Quantity{});
    ASSERT_EQ(named.size(), 2);
    EXPECT_EQ(named[0].name, "contrast");
    EXPECT_EQ(named[0].quantity, quantity({"output=contrast", "gain=2"}));
    EXPECT_EQ(named[1].quantity.measure, Measure::intensity);
}

TEST(ContrastFinish, RefusesBadParameters) {
    for (const char* text : {"gain=-1", "read_noise=-0.1", "black=-1", "speckle_size=0.2", "speckle_size=-2",
                             "also=contrast+flow", "gain=nan"})
        EXPECT_THROW(params_of("speckle", {text}), UsageError) << text;
    EXPECT_THROW(params_of("temporal", {"speckle_size=2"}), UsageError);
}

} // namespace specklescope::test::contrast_finish_test
