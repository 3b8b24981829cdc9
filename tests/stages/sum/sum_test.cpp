// Stage sum: sums are exact, belong to whole exposures and keep saturation and noise; on the simulator they
// are the exposures that they stand for.
#include "base/error.hpp"
#include "recording/record_file.hpp"
#include "sources/registry.hpp"
#include "stages/sum/sum.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/test_port.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace specklescope::test::sum_test {

constexpr double kExposure = 5;               ///< ms
constexpr std::int64_t kInterval = 5'000'000; ///< ns
constexpr int kWidth = 37, kHeight = 11;

using Change = std::function<void(FrameInfo&)>;

/// Runs frames without dead time.
class Sums {
public:
    Sums(Executor& executor, const std::vector<std::string>& chain) : executor_(executor) {
        executor_.set_chain(chain_of_stages(chain), 1);
    }
    template <class T>
    const Result& frame(const TestImage<T>& image, const Change& change = {}, bool again = false) {
        if (!ring_)
            ring_.emplace(image.shape(), 2, executor_.slot_memory());
        Frame frame = ring_->acquire(std::chrono::seconds(10));
        copy_pixels(image.view(), frame.host());
        FrameInfo& info = frame.info();
        info = {};
        info.sequence = again ? number_ - 1 : number_;
        info.capture_ns = kInterval * static_cast<std::int64_t>(info.sequence);
        info.exposure_ms = kExposure;
        info.exposure_origin = ExposureOrigin::camera;
        info.full_scale = image.shape().type == PixelType::u16 ? 4095 : 0;
        info.discontinuity = number_ == 0;
        number_ = info.sequence + 1;
        if (change)
            change(info);
        executor_.submit(std::move(frame), true, again);
        result_ = *executor_.collect(true);
        return result_;
    }
    void skip(std::uint64_t frames) { number_ += frames; }
    const Result& result() const { return result_; }
    float at(int x, int y) const { return result_.image.host().as<float>().row(y)[x]; }
    bool has_numbers() const { return result_.counts.undefined == 0; }

private:
    Executor& executor_;
    std::optional<FrameRing> ring_;
    Result result_;
    std::uint64_t number_ = 0;
};

class SumOn : public OnBackend {
protected:
    /// All sums of the list are those of double, sample by sample.
    template <class T> void expect_sums(const std::vector<int>& list, int high) {
        std::string text;
        for (const int frames : list)
            text += (text.empty() ? "" : "+") + std::to_string(frames);
        SCOPED_TRACE(text + " of " + std::to_string(sizeof(T)) + " bytes");
        auto random = test_random(17700 + sizeof(T));
        std::uniform_int_distribution<int> value(sizeof(T) == 4 ? -high : 0, high);
        Sums run(*executor, {"sum:frames=" + text});
        for (int round = 0; round < 2; ++round)
            for (const int frames : list) {
                std::vector<double> truth(static_cast<std::size_t>(kWidth * kHeight), 0.0);
                for (int i = 0; i < frames; ++i) {
                    TestImage<T> image(kWidth, kHeight, 2);
                    image.fill([&] { return value(random); });
                    for (int y = 0; y < kHeight; ++y)
                        for (int x = 0; x < kWidth; ++x)
                            truth[static_cast<std::size_t>(y * kWidth + x)] += image.at(x, y);
                    run.frame(image);
                }
                ASSERT_EQ(run.result().exposure.ms, frames * kExposure);
                for (int y = 0; y < kHeight; ++y)
                    for (int x = 0; x < kWidth; ++x)
                        ASSERT_EQ(run.at(x, y), truth[static_cast<std::size_t>(y * kWidth + x)])
                            << x << " " << y;
            }
    }
};
INSTANTIATE_TEST_SUITE_P(Backend, SumOn, testing::Values("cpu", "cuda"), backend_name);

TestImage<std::uint16_t> constant(int value) {
    return TestImage<std::uint16_t>(kWidth, kHeight).fill([&] { return value; });
}

TEST_P(SumOn, AddsEachListOfFramesExactly) {
    expect_sums<std::uint16_t>({1, 2, 4, 8}, 4095);
    expect_sums<std::uint8_t>({3}, 255);
    expect_sums<float>({4, 1, 4}, 100000);
    expect_sums<std::uint16_t>({4096}, 4095); // up to 2^24
}

TEST_P(SumOn, ShowsTheLastSumUntilTheNext) {
    Sums run(*executor, {"sum:frames=2+3"});
    run.frame(constant(1));
    EXPECT_EQ(run.result().counts.undefined, static_cast<std::uint64_t>(kWidth * kHeight)) << "no sum yet";
    EXPECT_FALSE(run.result().warmup.done());
    std::vector<float> shown;
    for (int i = 2; i <= 10; ++i) {
        run.frame(constant(i));
        EXPECT_TRUE(run.result().warmup.done());
        shown.push_back(run.at(0, 0));
        run.frame(constant(i), {}, true); // an edit while paused
        EXPECT_EQ(run.at(0, 0), shown.back());
    }
    EXPECT_EQ(shown, (std::vector<float>{3, 3, 3, 12, 12, 13, 13, 13, 27}));
}

TEST_P(SumOn, OfIncompleteFramesIsNone) {
    Sums run(*executor, {"sum:frames=1+3"});
    const auto sum_of = [&](int first, const Change& change = {}) { // of the three frames of a cycle
        run.frame(constant(1));
        run.frame(constant(first));
        run.frame(constant(20), change);
        run.frame(constant(30));
        return run.at(0, 0);
    };
    EXPECT_EQ(sum_of(10), 60);
    EXPECT_EQ(sum_of(11, [](FrameInfo& info) { info.motion = FrameMotion{.left_out = true}; }), 1)
        << "a frame that register leaves out";
    EXPECT_EQ(sum_of(12), 62) << "the next one is whole";
    run.frame(constant(1));
    run.frame(constant(10));
    run.skip(1); // lost
    run.frame(constant(30));
    EXPECT_EQ(run.at(0, 0), 1);
    EXPECT_EQ(sum_of(13), 63) << "frames belong to sums by their number";
    run.skip(2);
    run.frame(constant(5));
    run.frame(constant(6));
    EXPECT_EQ(run.at(0, 0), 63) << "its beginning was lost";
    EXPECT_EQ(sum_of(14), 64);
}

/// After a seek into a sum the next ones are those of a run.
TEST_P(SumOn, AreCountedByThePlaceInAFile) {
    Sums run(*executor, {"sum:frames=2+3"});
    std::uint64_t position = 6;
    std::vector<float> shown;
    for (int i = 0; i < 9; ++i, ++position) {
        run.frame(constant(static_cast<int>(position)), [&](FrameInfo& info) {
            info.position = position;
            info.sequence = 0; // frames before the target of a seek have its number
        });
        shown.push_back(run.has_numbers() ? run.at(0, 0) : -1);
    }
    EXPECT_EQ(shown, (std::vector<float>{-1, -1, -1, 7 + 8 + 9, 24, 21, 21, 21, 12 + 13 + 14}));
}

TEST_P(SumOn, IsNoExposureWithDeadTime) {
    const auto summed = [&](double exposure_ms, TimeOrigin origin = TimeOrigin::source, int frames = 3) {
        Sums run(*executor, {"sum:frames=" + std::to_string(frames)});
        for (int i = 0; i < 7; ++i)
            run.frame(constant(10), [&](FrameInfo& info) {
                info.exposure_ms = exposure_ms;
                info.time_origin = origin;
            });
        EXPECT_EQ(run.has_numbers(), run.result().warmup.done());
        EXPECT_EQ(run.result().notes->front().empty(), frames == 1);
        return run.has_numbers();
    };
    EXPECT_TRUE(summed(kExposure));
    EXPECT_TRUE(summed(kExposure * 0.97)) << "3 % dead time";
    EXPECT_FALSE(summed(kExposure * 0.9));
    EXPECT_FALSE(summed(kExposure * 0.2));
    EXPECT_FALSE(summed(kExposure * 1.2)) << "longer than the time between frames";
    EXPECT_TRUE(summed(kExposure * 0.2, TimeOrigin::none)) << "without times it is not checked";
    EXPECT_TRUE(summed(NAN));
    EXPECT_TRUE(summed(kExposure * 0.2, TimeOrigin::source, 1)) << "single frames are exposures";
}

/// A sample at full scale in one frame is counted in its sum, and no other is; the sum is that of the
/// samples.
TEST_P(SumOn, CountsSaturation) {
    Sums run(*executor, {"sum:frames=3", "speckle:radius=1,output=contrast2,also=mean"});
    auto saturated = constant(4094);
    saturated.at(20, 5) = 4095;
    run.frame(constant(4094));
    run.frame(saturated);
    EXPECT_EQ(run.result().counts.raw_saturated, 1U);
    run.frame(constant(4094));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(run.result().counts.windows, static_cast<std::uint64_t>(kWidth * kHeight));
        EXPECT_EQ(run.result().counts.saturated, 1U);
        EXPECT_EQ(named_result(run.result(), "mean")->image.host().as<float>().row(5)[20],
                  static_cast<float>(3 * 4094 + 1 / 9.0));
        run.frame(constant(4094)); // shows it again
    }
    run.frame(constant(4094));
    EXPECT_EQ(run.result().counts.saturated, 0U);
    EXPECT_EQ(run.result().counts.windows, static_cast<std::uint64_t>(kWidth * kHeight));
}

/// Black level, read noise and quantisation count once for each frame, shot noise by the sum.
TEST_P(SumOn, CountsTheNoiseOfItsFrames) {
    constexpr int kFrames = 5;
    constexpr double kRead = 3, kBlack = 40, kGain = 0.4;
    auto random = test_random(17710);
    std::normal_distribution<double> noise(900, 60);
    Sums run(*executor, {"sum:frames=5", "speckle:radius=2,output=contrast2,gain=0.4,read_noise=3,black=40"});
    TestImage<float> total(kWidth, kHeight);
    total.fill([] { return 0; });
    for (int i = 0; i < kFrames; ++i) {
        TestImage<std::uint16_t> image(kWidth, kHeight);
        image.fill([&] { return std::lround(noise(random)); });
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x)
                total.at(x, y) += image.at(x, y);
        run.frame(image);
    }
    const Result sum = run.result();
    const double read = std::sqrt(kFrames * (kRead * kRead + 1.0 / 12));
    Sums longer(*executor, {"speckle:radius=2,output=contrast2,gain=" + std::to_string(kGain) +
                            ",read_noise=" + to_string(ParamValue(read)) +
                            ",black=" + to_string(ParamValue(kFrames * kBlack))});
    longer.frame(total);
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
            ASSERT_NEAR(sum.image.host().as<float>().row(y)[x], longer.at(x, y), 1e-7) << x << " " << y;
}

TEST_P(SumOn, TellsTheExposureOfTheSum) {
    Sums run(*executor, {"sum:frames=4", "speckle:output=sfi,also=contrast2"});
    auto random = test_random(17720);
    for (int i = 0; i < 4; ++i)
        run.frame(speckle_image<std::uint16_t>(kWidth, kHeight, 300, 4094, random));
    const Result& result = run.result();
    EXPECT_EQ(result.exposure.ms, 4 * kExposure);
    EXPECT_EQ(result.exposure.origin, ExposureOrigin::camera);
    EXPECT_EQ(named_result(result, "contrast2")->exposure.ms, 4 * kExposure);
    const float k2 = named_result(result, "contrast2")->image.host().as<float>().row(5)[9];
    EXPECT_NEAR(run.at(9, 5), 1 / (2 * 4 * kExposure * 1e-3 * k2), 1e-4 * run.at(9, 5));
    EXPECT_EQ(recorded_frame(result, RecordWhat::processed).info.exposure_ms, 4 * kExposure);
    EXPECT_EQ(recorded_frame(result, RecordWhat::raw).info.exposure_ms, kExposure);
}

/// Means over frames take each sum once.
TEST_P(SumOn, CountsOnceInLaterWindows) {
    Sums run(*executor, {"sum:frames=3", "average:frames=2"});
    for (int i = 1; i <= 9; ++i)
        run.frame(constant(i));
    EXPECT_EQ(run.at(0, 0), (15 + 24) / 2.0F);
}

TEST_P(SumOn, RefusesOtherChains) {
    const auto refused = [&](const std::vector<std::string>& chain) {
        EXPECT_THROW(Sums(*executor, chain).frame(constant(1)), UsageError) << chain[0];
    };
    for (const std::string list : {"0", "1.5", "-2", "4097", "1+", "a", "1 2", "1+2+x", "1e9", "nan",
                                   "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1"})
        refused({"sum:frames=" + list});
    refused({"sum:frames=1+2", "temporal:frames=5"});
    refused({"sum:frames=1+2", "speckle", "average"});
    refused({"sum:frames=2", "sum:frames=2"});
    refused({"speckle", "sum:frames=2"});
    refused({"sum:frames=2", "background:black=10"});
    Sums(*executor, {"background:black=10", "sum:frames=2", "temporal:frames=5"}).frame(constant(1));
    Sums(*executor, {"average:frames=2", "sum:frames=1+2+4", "speckle:output=contrast2", "mesi", "average"})
        .frame(constant(1));
    Sums same(*executor, {"sum"});
    same.frame(constant(7));
    EXPECT_EQ(same.result().image.shape().type, PixelType::u16) << "one frame each: the frames themselves";
}

/// In a chain with stage mesi, where a change of exposure resets nothing.
TEST(Sum, OfDifferentExposuresIsNone) {
    SumSchedule schedule({.frames = "2"});
    std::string shown;
    FrameInfo info;
    for (const double exposure_ms : {5.0, 5.0, 5.0, 4.9, 4.9, 4.9}) {
        info.exposure_ms = exposure_ms;
        const SumStep step = schedule.next(info, false, PixelType::u16);
        shown += step.ends ? 's' : step.shows ? '.' : '-';
        ++info.sequence;
        info.capture_ns += kInterval;
    }
    EXPECT_EQ(shown, "-s.--s");
}

TEST(Sum, NeedsTheFramesOfLaterHistories) {
    Chain chain;
    chain.add("sum:frames=1+2+4+8");
    EXPECT_EQ(chain.history(), 14U);
    chain.add("speckle:output=contrast2");
    chain.add("mesi:exposures=1+2+4+8,cycles=3");
    EXPECT_GE(chain.history(), 3U * 15 - 1) << "three cycles of sums";
}

/// Runs `count` frames of a simulated source through a chain.
void run_simulated(const std::string& source_text, const std::vector<std::string>& chain, std::uint64_t count,
                   const std::function<void(const Result&)>& take) {
    const auto executor = make_host_executor(2);
    executor->set_chain(chain_of_stages(chain), 1);
    const auto source = make_source("synthetic:uniform?noise=0&live=false&speed=0&" + source_text, {});
    FrameRing ring(source->open().shape, 2, executor->slot_memory());
    TestPort port;
    for (std::uint64_t number = 0; number < count; ++number) {
        port.frames.clear();
        ASSERT_TRUE(read_frames(*source, port, 1));
        Delivered& delivered = port.frames[0];
        Frame frame = ring.acquire(std::chrono::seconds(10));
        copy_pixels(HostView(delivered.pixels.data(), delivered.shape), frame.host());
        frame.info() = delivered.info;
        frame.info().discontinuity = number == 0;
        executor->submit(std::move(frame), true);
        take(*executor->collect(true));
    }
}

/// K² of the whole image, of sums of the frames of a simulated source; of each fourth one, as neighbours
/// correlate.
std::vector<double> contrasts(const std::string& source_text, int frames, int sums) {
    const auto apart = static_cast<std::uint64_t>(frames) * (frames > 1 ? 4 : 1);
    std::vector<double> found;
    const auto take = [&](const Result& result) {
        if ((result.info.sequence + 1) % apart != 0)
            return;
        EXPECT_TRUE(result.warmup.done());
        const ConstHostView image = result.image.host();
        double sum = 0, squares = 0;
        dispatch(image.shape.type, [&](auto zero) {
            for (int y = 0; y < image.shape.height; ++y)
                for (int x = 0; x < image.shape.width; ++x) {
                    const double value = image.as<decltype(zero)>().row(y)[x];
                    sum += value;
                    squares += value * value;
                }
        });
        found.push_back(static_cast<double>(image.shape.pixels()) * squares / (sum * sum) - 1);
    };
    run_simulated("width=128&height=128&" + source_text, {"sum:frames=" + std::to_string(frames)},
                  apart * static_cast<std::uint64_t>(sums), take);
    return found;
}

struct Mean {
    double value, error;
};
Mean mean_of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return {mean, std::sqrt(squares / (count - 1) / count)};
}

TEST(Sum, IsOneLongExposureOnTheSimulator) {
    // 2 ms of light at τ = 1.5 ms: in one exposure, and in sums of frames without dead time.
    const std::string scene = "&tau=1.5&seed=" + std::to_string(test_seed() % 1000);
    const Mean whole = mean_of(contrasts("exposure=2&rate=50" + scene, 1, 40));
    EXPECT_GT(whole.value, 10 * whole.error);
    for (const int frames : {2, 8, 20}) {
        const Mean sum = mean_of(contrasts("exposure=" + to_string(ParamValue(2.0 / frames)) +
                                               "&rate=" + std::to_string(500 * frames) + scene + "7",
                                           frames, 40));
        const double z = (sum.value - whole.value) / std::hypot(sum.error, whole.error);
        std::printf("%d frames: K2 %.5f, one exposure %.5f, z = %.2f\n", frames, sum.value, whole.value, z);
        EXPECT_LE(std::abs(z), 4.5) << frames; // of 40 sums each: p = 1e-4
    }
}

/// Seven exposures of 0.25 to 16 ms, from frames of 0.25 ms.
TEST(Sum, GivesAMultiExposureFit) {
    constexpr double kRate = 500, kRho = 0.8;
    constexpr int kCycles = 12;
    std::vector<double> rates, rhos;
    const std::string scene = "width=96&height=96&tau=2&rho=0.8&exposure=0.25&rate=4000&seed=";
    for (int seed = 0; seed < 4; ++seed)
        run_simulated(scene + std::to_string(test_seed() % 1000 + static_cast<std::uint64_t>(seed)),
                      {"sum:frames=1+2+4+8+16+32+64", "speckle:output=contrast2,radius=5",
                       "mesi:also=rho,cycles=" + std::to_string(kCycles)},
                      127 * kCycles, [&](const Result& result) {
                          if (result.info.sequence + 1 != 127 * kCycles)
                              return;
                          EXPECT_TRUE(result.warmup.done());
                          const auto median = [](ConstHostView image) {
                              std::vector<float> values;
                              for (int y = 0; y < image.shape.height; ++y)
                                  for (int x = 0; x < image.shape.width; ++x)
                                      if (const float value = image.as<float>().row(y)[x]; !std::isnan(value))
                                          values.push_back(value);
                              std::nth_element(values.begin(), values.begin() + values.size() / 2,
                                               values.end());
                              return static_cast<double>(values[values.size() / 2]);
                          };
                          rates.push_back(median(result.image.host()));
                          rhos.push_back(median(named_result(result, "rho")->image.host()));
                      });
    const Mean rate = mean_of(rates), rho = mean_of(rhos);
    std::printf("1/tau %.1f ± %.1f of %.0f, rho %.4f ± %.4f of %.1f\n", rate.value, rate.error, kRate,
                rho.value, rho.error, kRho);
    // The median of a map of a few hundred speckles; three standard errors are about 8 % and 0.04.
    EXPECT_NEAR(rate.value / kRate, 1, 0.15);
    EXPECT_NEAR(rho.value, kRho, 0.06);
}

} // namespace specklescope::test::sum_test
