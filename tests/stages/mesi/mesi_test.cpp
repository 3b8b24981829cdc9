// Stage mesi: the fit against scipy, recovery of known tissue with its error bars, and the set of exposures.
#include "stages/mesi/mesi.hpp"
#include "tests/reference/mesi_reference.hpp"
#include "tests/support/executors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace specklescope::test::mesi_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kExposures = {0.25, 0.5, 1, 2, 4, 8, 16, 32};
constexpr const char* kAll = ",also=rho+beta+noise+residual+error+iterations+used";

double mixed(double x) {
    if (x > 0.3)
        return (std::expm1(-x) + x) / (x * x);
    double sum = 0;
    for (int k = 14; k >= 0; --k)
        sum = sum * -x + 1 / std::tgamma(k + 3.0);
    return sum;
}

/// One pixel; rate = 1/τc in 1/ms.
struct Tissue {
    double rate = 1, rho = 1, beta = 1, noise = 0;
    double contrast2(double exposure_ms) const {
        const double x = exposure_ms * rate;
        return beta *
                   (2 * rho * rho * mixed(2 * x) + 4 * rho * (1 - rho) * mixed(x) + (1 - rho) * (1 - rho)) +
               noise;
    }
};

using Image = TestImage<float>;

/// Runs K² images with their exposures, frame by frame.
class Measurement {
public:
    Measurement(Executor& executor, const std::vector<std::string>& chain) : executor_(executor) {
        executor_.set_chain(chain_of_stages(chain), 1);
    }
    const Result& frame(const Image& image, double exposure_ms, bool discontinuity = false) {
        if (!ring_)
            ring_.emplace(image.shape(), 2, executor_.slot_memory());
        Frame frame = ring_->acquire(std::chrono::seconds(10));
        copy_pixels(image.view(), frame.host());
        frame.info() = {};
        frame.info().sequence = sequence_++;
        frame.info().exposure_ms = exposure_ms;
        frame.info().discontinuity = discontinuity || sequence_ == 1;
        executor_.submit(std::move(frame), true, false);
        result_ = *executor_.collect(true);
        return result_;
    }
    float at(int x, int y = 0) const { return result_.image.host().as<float>().row(y)[x]; }
    float also(const std::string& name, int x, int y = 0) const {
        for (const NamedImage& named : *result_.also)
            if (named.name == name)
                return named.image.host().as<float>().row(y)[x];
        ADD_FAILURE() << name;
        return NAN;
    }
    const Result& result() const { return result_; }

private:
    Executor& executor_;
    std::optional<FrameRing> ring_;
    Result result_;
    std::uint64_t sequence_ = 0;
};

class MesiOn : public OnBackend {
protected:
    /// One frame for each exposure, painted by `contrast2(x, y, exposure)`, and the first one again.
    template <class F>
    Measurement after_a_cycle(const std::string& stage, int width, int height, F&& contrast2) {
        Measurement run(*executor, {stage});
        for (std::size_t i = 0; i <= kExposures.size(); ++i) {
            const double exposure = kExposures[i % kExposures.size()];
            Image image(width, height);
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x)
                    image.at(x, y) = static_cast<float>(contrast2(x, y, i % kExposures.size()));
            run.frame(image, exposure);
        }
        return run;
    }
};
INSTANTIATE_TEST_SUITE_P(Backend, MesiOn, testing::Values("cpu", "cuda"), backend_name);

TEST_P(MesiOn, AgreesWithScipy) {
    struct Case {
        const char* fit;
        const MesiReference* pixels;
        const char* third;
        double student; ///< 68.27 % of Student's distribution with 8 samples less the parameters
    };
    for (const Case& one : {Case{"flow", &kMesiFlow, "", 1.0906}, Case{"noise", &kMesiNoise, "noise", 1.1105},
                            Case{"beta", &kMesiBeta, "beta", 1.1105}}) {
        SCOPED_TRACE(one.fit);
        const MesiReference& pixels = *one.pixels;
        const Measurement run = after_a_cycle(
            std::string("mesi:input=contrast2,beta=0.5,noise=0.002,fit=") + one.fit + kAll, kMesiPixels, 1,
            [&](int x, int, std::size_t i) { return pixels[static_cast<std::size_t>(x)][i]; });
        EXPECT_EQ(run.result().counts.undefined, 0U);
        for (int x = 0; x < kMesiPixels; ++x) {
            const auto& expected = pixels[static_cast<std::size_t>(x)];
            EXPECT_NEAR(run.at(x) / expected[8], 1, 1e-4) << x;
            EXPECT_NEAR(run.also("rho", x), expected[9], 1e-4) << x;
            if (*one.third) {
                EXPECT_NEAR(run.also(one.third, x), expected[10], 2e-5) << x;
            }
            EXPECT_NEAR(run.also("residual", x) / expected[11], 1, 1e-3) << x;
            EXPECT_NEAR(run.also("error", x) / (one.student * expected[12]), 1, 5e-3) << x;
            EXPECT_EQ(run.also("used", x), 8) << x;
        }
    }
}

/// Tissue with a static layer, K² with known noise: no bias above 1 %, and error bars that hold 68 % of the
/// truth.
TEST_P(MesiOn, RecoversTissueWithAStaticLayer) {
    constexpr int kSide = 200;
    for (const char* fit : {"noise", "beta"}) {
        SCOPED_TRACE(fit);
        std::mt19937_64 random = test_random(41);
        std::uniform_real_distribution<double> part;
        std::normal_distribution<double> normal;
        std::vector<Tissue> tissue;
        for (int i = 0; i < kSide * kSide; ++i)
            tissue.push_back({.rate = 0.2 * std::pow(10, part(random)),
                              .rho = 0.5 + 0.35 * part(random),
                              .beta = fit == std::string("beta") ? 0.3 + 0.4 * part(random) : 0.5,
                              .noise = fit == std::string("noise") ? 0.005 * part(random) : 0});
        const Measurement run = after_a_cycle(
            std::string("mesi:input=contrast2,beta=0.5,fit=") + fit + kAll, kSide, kSide,
            [&](int x, int y, std::size_t i) {
                return tissue[static_cast<std::size_t>(y * kSide + x)].contrast2(kExposures[i]) +
                       0.002 * normal(random);
            });
        double bias = 0;
        double rho_bias = 0;
        int held = 0;
        int failed = 0;
        for (int y = 0; y < kSide; ++y)
            for (int x = 0; x < kSide; ++x) {
                const Tissue& truth = tissue[static_cast<std::size_t>(y * kSide + x)];
                const double found = run.at(x, y) / 1000;
                if (std::isnan(found)) {
                    ++failed;
                    continue;
                }
                bias += found / truth.rate - 1;
                rho_bias += run.also("rho", x, y) - truth.rho;
                held += std::abs(found - truth.rate) <= run.also("error", x, y) / 1000 ? 1 : 0;
            }
        const double count = kSide * kSide - failed;
        EXPECT_LT(std::abs(bias / count), 0.01);
        EXPECT_LT(std::abs(rho_bias / count), 0.01);
        EXPECT_GT(held / count, 0.66);
        EXPECT_LT(held / count, 0.70);
        EXPECT_LT(failed / count, 1e-3);
        EXPECT_EQ(run.result().counts.undefined, static_cast<std::uint64_t>(failed));
    }
}

struct Pixel {
    static constexpr int kMost = 8;
    std::array<float, 8> values;
    static int end() { return kMost; }
    float operator()(int i) const { return values[static_cast<std::size_t>(i)]; }
};

/// The lanes, the device and the scalar form share every bit.
TEST_P(MesiOn, EveryFormGivesTheSameBits) {
    constexpr int kWidth = 131;
    std::mt19937_64 random = test_random(43);
    std::uniform_real_distribution<double> part;
    std::array<std::vector<float>, 8> samples;
    for (int x = 0; x < kWidth; ++x) {
        const Tissue tissue{.rate = 0.02 * std::pow(1000, part(random)), .rho = part(random), .beta = 0.5};
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i].push_back(
                static_cast<float>(tissue.contrast2(kExposures[i]) + 0.02 * (part(random) - 0.5)));
    }
    const Measurement run =
        after_a_cycle(std::string("mesi:input=contrast2,fit=beta") + kAll, kWidth, 1,
                      [&](int x, int, std::size_t i) { return samples[i][static_cast<std::size_t>(x)]; });
    const MesiTask task = mesi_task(MesiFree::beta, 1, 0, 20, kExposures.data(), 8);
    int undefined = 0;
    for (int x = 0; x < kWidth; ++x) {
        Pixel pixel{};
        for (std::size_t i = 0; i < 8; ++i) // a negative K² is no sample
            pixel.values[i] =
                samples[i][static_cast<std::size_t>(x)] >= 0 ? samples[i][static_cast<std::size_t>(x)] : NAN;
        const MesiFit<float> fit = MesiSolver<MesiScalar, true, false>::fit(task, pixel);
        const auto same = [&](float a, float b) {
            return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
                   (std::isnan(a) && std::isnan(b));
        };
        EXPECT_PRED2(same, run.at(x), mesi_main(fit.rate, false)) << x;
        EXPECT_PRED2(same, run.also("rho", x), fit.rho) << x;
        EXPECT_PRED2(same, run.also("error", x), 1000.0F * fit.error) << x;
        EXPECT_PRED2(same, run.also("iterations", x), fit.iterations) << x;
        undefined += std::isnan(run.at(x)) ? 1 : 0;
    }
    EXPECT_EQ(run.result().counts.undefined, static_cast<std::uint64_t>(undefined));
}

/// Missing samples, fits without an answer, and each start's own value.
TEST_P(MesiOn, LeavesOutMissingSamplesAndGivesNoNumberWithoutAnAnswer) {
    const Tissue tissue{.rate = 0.7, .rho = 0.8, .beta = 0.6};
    const Measurement run = after_a_cycle(std::string("mesi:input=contrast2,fit=beta") + kAll, 7, 1,
                                          [&](int x, int, std::size_t i) {
                                              const double value = tissue.contrast2(kExposures[i]);
                                              switch (x) {
                                              case 1: // two samples are missing
                                                  return i == 2 || i == 7 ? kNaN : value;
                                              case 2: // as many samples as parameters: no error
                                                  return i == 0 || i == 3 || i == 7 ? value : kNaN;
                                              case 3: // fewer
                                                  return i < 2 ? value : kNaN;
                                              case 4: // static: no rate
                                                  return 0.6;
                                              case 5: // no speckle
                                                  return 0.0;
                                              case 6:
                                                  return kNaN;
                                              default:
                                                  return value;
                                              }
                                          });
    EXPECT_NEAR(run.at(0), 700, 0.1);
    EXPECT_NEAR(run.at(1), 700, 0.2);
    EXPECT_EQ(run.also("used", 1), 6);
    EXPECT_NEAR(run.at(2), 700, 1);
    EXPECT_TRUE(std::isnan(run.also("error", 2)));
    for (const int x : {3, 4, 5, 6}) {
        EXPECT_TRUE(std::isnan(run.at(x))) << x << ": " << run.at(x);
        EXPECT_TRUE(std::isnan(run.also("rho", x))) << x;
        EXPECT_TRUE(std::isnan(run.also("error", x))) << x;
    }
    EXPECT_EQ(run.also("used", 3), 2);
    EXPECT_EQ(run.also("used", 6), 0);
    EXPECT_EQ(run.result().counts.undefined, 4U);
}

Image constant(double value) {
    Image image(5, 3);
    image.fill([&] { return static_cast<float>(value); });
    return image;
}

/// An unlisted cycle is complete when an exposure returns, also if each is held for some frames.
TEST_P(MesiOn, FindsTheCycleOfItsFrames) {
    const Tissue tissue{.rate = 0.5, .rho = 0.9, .beta = 0.8};
    for (const int hold : {1, 3}) {
        Measurement run(*executor, {"mesi:input=contrast2"});
        const std::vector<double> cycle = {4, 0.5, 1, 8, 2};
        for (int frame = 0; frame < 40; ++frame) {
            const double exposure = cycle[static_cast<std::size_t>(frame / hold) % cycle.size()];
            run.frame(constant(tissue.contrast2(exposure)), exposure, frame == 0);
            const bool complete = frame >= hold * 5;
            EXPECT_EQ(run.result().warmup.done(), complete) << frame;
            if (complete) {
                EXPECT_NEAR(run.at(2, 1), 500, 0.1) << frame;
            } else {
                EXPECT_TRUE(std::isnan(run.at(2, 1))) << frame;
            }
        }
        // Another cycle replaces the first when the old exposures have stayed away.
        const Tissue faster{.rate = 2, .rho = 0.9, .beta = 0.8};
        const std::vector<double> next = {0.1, 0.3, 1.1, 3.3};
        for (int frame = 0; frame < 200; ++frame) {
            const double exposure = next[static_cast<std::size_t>(frame / hold) % next.size()];
            run.frame(constant(faster.contrast2(exposure)), exposure);
            EXPECT_EQ(run.result().warmup.done(), std::isfinite(run.at(2, 1))) << frame;
        }
        EXPECT_TRUE(run.result().warmup.done());
        EXPECT_NEAR(run.at(2, 1), 2000, 1);
    }
}

TEST_P(MesiOn, ListedExposuresLeaveOtherFramesOut) {
    const Tissue tissue{.rate = 0.5, .rho = 0.9, .beta = 0.8};
    Measurement run(*executor, {"mesi:input=contrast2,exposures=0.5+2+8+20"});
    for (const double exposure : {0.5, 1.0, 2.0, 20.0, 5.0, 8.0, 3.0}) {
        const bool listed = exposure != 1 && exposure != 5 && exposure != 3;
        run.frame(constant(listed ? tissue.contrast2(exposure) : 0.7), exposure);
        EXPECT_EQ(run.result().warmup.done(), exposure == 8 || exposure == 3) << exposure;
    }
    EXPECT_NEAR(run.at(0), 500, 0.1);
    // Without exposures in the frames, the list is the cycle, from the first frame on.
    Measurement silent(*executor, {"mesi:input=contrast2,exposures=0.5+2+8+20"});
    for (const double exposure : {0.5, 2.0, 8.0, 20.0, 0.5})
        silent.frame(constant(tissue.contrast2(exposure)), kNaN);
    EXPECT_NEAR(silent.at(0), 500, 0.1);
    Measurement unlisted(*executor, {"mesi:input=contrast2"});
    for (const double exposure : {0.5, 2.0, 8.0, 20.0, 0.5})
        unlisted.frame(constant(tissue.contrast2(exposure)), kNaN);
    EXPECT_TRUE(std::isnan(unlisted.at(0)));
    EXPECT_FALSE(unlisted.result().warmup.done());
}

/// `cycles` averages each exposure; K is squared first.
TEST_P(MesiOn, AveragesCyclesAsK2) {
    const Tissue tissue{.rate = 0.5, .rho = 0.9, .beta = 0.8};
    Measurement run(*executor, {"mesi:input=contrast,cycles=2,exposures=0.5+2+8+20"});
    for (const double part : {1.2, 0.8})
        for (const double exposure : {0.5, 2.0, 8.0, 20.0})
            run.frame(constant(std::sqrt(part * tissue.contrast2(exposure))), exposure);
    EXPECT_NEAR(run.at(0), 500, 0.2);
}

/// A change of exposure restarts a window, but not the set; a window before the stage is refused.
TEST_P(MesiOn, ChangesOfExposureRestartNothingInItsChain) {
    const Tissue tissue{.rate = 0.5, .rho = 0.9, .beta = 0.8};
    Measurement run(*executor, {"mesi:input=contrast2,exposures=0.5+2+8", "average:frames=3"});
    for (int frame = 0; frame < 6; ++frame) {
        const double exposure = std::array{0.5, 2.0, 8.0}[static_cast<std::size_t>(frame % 3)];
        run.frame(constant(tissue.contrast2(exposure)), exposure);
    }
    EXPECT_TRUE(run.result().warmup.done());
    EXPECT_NEAR(run.at(0), 500, 0.2);
    Measurement discontinuous(*executor, {"mesi:input=contrast2,exposures=0.5+2+8"});
    for (const double exposure : {0.5, 2.0, 8.0})
        discontinuous.frame(constant(0.1), exposure, exposure == 8);
    EXPECT_FALSE(discontinuous.result().warmup.done());
    EXPECT_THROW(Measurement(*executor, {"temporal:output=contrast2", "mesi"}).frame(constant(1), 1),
                 UsageError);
    EXPECT_THROW(
        Measurement(*executor, {"speckle:output=contrast2", "average", "mesi"}).frame(constant(1), 1),
        UsageError);
}

TEST(Mesi, RefusesListsThatNoFitCanUse) {
    for (const std::string exposures : {"1+2", "1+2+2", "1+3+2", "1+2+", "1,5", "1,2,", "a+b+c", "0+1+2",
                                        "-1+2+3", "1++2+3", "1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17"}) {
        MesiParams params;
        params.exposures = exposures;
        EXPECT_THROW(MesiSet{params}, UsageError) << exposures;
    }
    MesiParams params;
    params.exposures = "0.5,1,2";
    EXPECT_NO_THROW(MesiSet{params});
    params.exposures = "1+2";
    params.fit = MesiFree::none;
    EXPECT_NO_THROW(MesiSet{params});
}

/// Noise without a model: most fits find something or nothing, and do not return their start. A minimum may
/// have the same rate as a start by chance: 64 numbers of f32 are taken by about one of a million fits (an
/// estimate).
TEST_P(MesiOn, CountsEveryFitThatFails) {
    std::mt19937_64 random = test_random(47);
    std::uniform_real_distribution<double> part;
    const Measurement run = after_a_cycle("mesi:input=contrast2,iterations=8,also=rho", 300, 40,
                                          [&](int, int, std::size_t) { return part(random); });
    const MesiTask task = mesi_task(MesiFree::beta, 1, 0, 8, kExposures.data(), 8);
    std::uint64_t undefined = 0;
    int at_start = 0;
    for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 300; ++x) {
            undefined += std::isnan(run.at(x, y)) ? 1U : 0U;
            at_start += std::any_of(std::begin(task.starts), std::end(task.starts),
                                    [&](const MesiStart& start) {
                                        return run.at(x, y) == mesi_main(start.rate, false);
                                    })
                            ? 1
                            : 0;
            EXPECT_EQ(std::isnan(run.at(x, y)), std::isnan(run.also("rho", x, y)));
        }
    EXPECT_LE(at_start, 3);
    EXPECT_EQ(run.result().counts.undefined, undefined);
    EXPECT_GT(undefined, 0U);
}

} // namespace specklescope::test::mesi_test
