// Facts about a frame survive every chain: every stage of the registry is put after every contrast stage, on
// the host and on the device, and none may lose a count, a flag, a time or a version.
#include "config/executor.hpp"
#include "pipeline/executor.hpp"
#include "recording/record_file.hpp"
#include "tests/stages/stage_cases.hpp"
#include "tests/support/gpu.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <tuple>

namespace specklescope::kept_test {

constexpr Shape kFrame{67, 45, 1, PixelType::u16};
constexpr double kFull = 4095;
constexpr int kFrames = 7;
constexpr std::uint64_t kVersion = 41;

std::unique_ptr<Executor> executor_on(const std::string& backend) {
    return backend == "cpu" ? make_host_executor(2)
                            : make_executor({.backend = Backend::cuda, .threads = 0, .gpus = ""}, nullptr);
}

/// Frame `i` with all metadata; some of its samples are at full scale.
Frame frame_of(FrameRing& ring, int i) {
    Frame frame = ring.acquire(std::chrono::seconds(10));
    test::paint_scene(frame.host(), kFull, 7, i);
    frame.info() = {};
    frame.info().sequence = static_cast<std::uint64_t>(100 + i);
    frame.info().capture_ns = 1'000'000'007LL * i;
    frame.info().arrival = SteadyClock::time_point(std::chrono::milliseconds(500 + i));
    frame.info().exposure_ms = 5;
    frame.info().exposure_origin = ExposureOrigin::camera;
    frame.info().full_scale = kFull;
    frame.info().discontinuity = i == 0;
    return frame;
}

std::vector<Result> results_of(Executor& executor, const std::vector<std::string>& stages,
                               const Shape& shape = kFrame, const std::function<void(Frame&)>& change = {}) {
    auto chain = std::make_shared<Chain>();
    for (const std::string& stage : stages)
        chain->add(stage);
    executor.set_chain(chain, kVersion);
    FrameRing ring(shape, kFrames, executor.slot_memory());
    std::vector<Result> results;
    for (int i = 0; i < kFrames; ++i) {
        Frame frame = frame_of(ring, i);
        if (change)
            change(frame);
        executor.submit(std::move(frame), true);
        results.push_back(*executor.collect(true));
    }
    return results;
}

/// Counted sample by sample, pixel by pixel.
std::uint64_t saturated_samples(ConstHostView raw, double full) {
    std::uint64_t count = 0;
    dispatch(raw.shape.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < raw.shape.height; ++y)
            for (int i = 0; i < raw.shape.width * raw.shape.channels; ++i)
                count += static_cast<double>(raw.as<T>().row(y)[i]) >= full ? 1 : 0;
    });
    return count;
}
PixelCounts not_finite(ConstHostView image) {
    PixelCounts counts;
    for (int y = 0; image.shape.type == PixelType::f32 && y < image.shape.height; ++y)
        for (int x = 0; x < image.shape.width; ++x) {
            bool nan = false, inf = false;
            for (int c = 0; c < image.shape.channels; ++c) {
                const float value = image.as<float>().row(y)[x * image.shape.channels + c];
                nan = nan || std::isnan(value);
                inf = inf || std::isinf(value);
            }
            counts.undefined += nan ? 1 : 0;
            counts.infinite += inf ? 1 : 0;
        }
    return counts;
}

bool same_info(const FrameInfo& a, const FrameInfo& b) {
    return a.sequence == b.sequence && a.capture_ns == b.capture_ns && a.arrival == b.arrival &&
           a.exposure_ms == b.exposure_ms && a.exposure_origin == b.exposure_origin &&
           a.full_scale == b.full_scale && a.discontinuity == b.discontinuity;
}

/// backend, contrast stage, the stage after it
using Pair = std::tuple<std::string, std::string, std::string>;

class KeptBehindContrast : public testing::TestWithParam<Pair> {};

TEST_P(KeptBehindContrast, CountsFlagsVersionAndTime) {
    const auto& [backend, contrast, behind] = GetParam();
    if (backend == "cuda" && !test::needs_gpu())
        return;
    const std::string first =
        contrast + ":output=contrast2" + (find_stage(contrast).stateful ? ",frames=4" : "");
    if (find_stage(contrast).stateful && find_stage(behind).exposures == Exposures::takes_several)
        return; // refused: it would mix exposures
    const auto executor = executor_on(backend);
    const std::vector<Result> alone = results_of(*executor, {first});
    const std::vector<Result> both = results_of(*executor, {first, behind});
    ASSERT_EQ(both.size(), alone.size());
    for (std::size_t i = 0; i < both.size(); ++i) {
        SCOPED_TRACE("frame " + std::to_string(i));
        const Result& result = both[i];
        ASSERT_TRUE(result.image);
        // Counts of the raw frame.
        EXPECT_EQ(result.counts.raw_saturated, saturated_samples(result.raw.host(), kFull));
        EXPECT_EQ(result.counts.raw_samples, kFrame.pixels());
        EXPECT_GT(result.counts.raw_saturated, 0U);
        // Counts of the windows.
        if (behind == "average") { // of every averaged frame
            EXPECT_GE(result.counts.saturated, alone[i].counts.saturated);
        } else {
            EXPECT_EQ(result.counts.saturated, alone[i].counts.saturated);
        }
        EXPECT_EQ(result.counts.windows, kFrame.pixels());
        EXPECT_GE(result.counts.saturated, result.counts.raw_saturated);
        // Counts of the final image.
        const PixelCounts seen = not_finite(result.image.host());
        EXPECT_EQ(result.counts.undefined, seen.undefined);
        EXPECT_EQ(result.counts.infinite, seen.infinite);
        // Warm-up of the contrast stage, while it lasts.
        EXPECT_EQ(result.warmup.done() && !alone[i].warmup.done(), false);
        if (!alone[i].warmup.done()) {
            EXPECT_EQ(result.warmup, alone[i].warmup);
        }
        // Times, version, exposure.
        FrameInfo given = result.raw.info();
        given.version = kVersion;
        EXPECT_TRUE(same_info(result.info, given) && same_info(result.image.info(), given));
        EXPECT_EQ(result.info.version, kVersion);
        EXPECT_EQ(result.image.info().version, kVersion);
        EXPECT_EQ(result.exposure.ms, 5);
        EXPECT_EQ(result.exposure.origin, ExposureOrigin::camera);
        // And in the file.
        const auto tags =
            nlohmann::json::parse(describe_frame(recorded_frame(result, RecordWhat::processed)));
        EXPECT_EQ(tags.at("raw_saturated"), result.counts.raw_saturated);
        EXPECT_EQ(tags.at("saturated"), result.counts.saturated);
        EXPECT_EQ(tags.at("undefined"), seen.undefined);
        EXPECT_EQ(tags.at("infinite"), seen.infinite);
        EXPECT_EQ(tags.at("complete"), result.warmup.done());
        EXPECT_EQ(tags.contains("warmup"), !result.warmup.done());
        EXPECT_EQ(tags.at("version"), kVersion);
        EXPECT_EQ(tags.at("sequence"), 100 + i);
        EXPECT_EQ(tags.at("capture_ns"), given.capture_ns);
        EXPECT_EQ(tags.at("exposure_used_ms"), 5);
        EXPECT_EQ(tags.at("exposure_origin"), "camera");
    }
}

/// Stages that take the contrast of camera images.
std::vector<std::string> contrast_stages() {
    std::vector<std::string> names;
    for (const StageType& type : stage_types())
        if (type.make_host(Params(*type.table))->counted().saturated && type.channels == std::vector{1})
            names.emplace_back(type.name);
    return names;
}
std::vector<std::string> every_stage() {
    std::vector<std::string> names;
    for (const StageType& type : stage_types())
        names.emplace_back(type.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Every, KeptBehindContrast,
                         testing::Combine(testing::Values("cpu", "cuda"),
                                          testing::ValuesIn(contrast_stages()),
                                          testing::ValuesIn(every_stage())),
                         [](const auto& tested) {
                             return std::get<0>(tested.param) + "_" + std::get<1>(tested.param) + "_then_" +
                                    std::get<2>(tested.param);
                         });

TEST(Kept, ThereAreThreeContrastStages) {
    EXPECT_EQ(contrast_stages(), (std::vector<std::string>{"speckle", "temporal", "spatiotemporal"}));
}

class CountedOn : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !test::needs_gpu())
            return;
        executor = executor_on(GetParam());
    }
    std::unique_ptr<Executor> executor;
};
INSTANTIATE_TEST_SUITE_P(Backend, CountedOn, testing::Values("cpu", "cuda"),
                         [](const auto& tested) { return tested.param; });

TEST_P(CountedOn, TheRawFrameForAnyChainTypeAndShape) {
    for (const std::vector<std::string>& stages :
         {std::vector<std::string>{}, {"gaussian"}, {"crop"}, {"speckle", "average"}})
        for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
            for (const int channels : {1, 3})
                for (const auto& [width, height] : {std::pair{67, 45}, {19, 17}, {640, 33}}) {
                    const Shape shape{width, height, channels, type};
                    SCOPED_TRACE(to_string(shape) + ", " + std::to_string(stages.size()) + " stages");
                    const double full = type == PixelType::u8 ? 255 : 4000;
                    const auto results = results_of(*executor, stages, shape, [&](Frame& frame) {
                        test::paint_scene(frame.host(), full, 3, static_cast<int>(frame.info().sequence));
                        frame.info().full_scale = type == PixelType::u8 ? 0 : full; // 0: the type's own
                    });
                    for (const Result& result : results) {
                        EXPECT_EQ(result.counts.raw_samples, shape.samples());
                        ASSERT_EQ(result.counts.raw_saturated, saturated_samples(result.raw.host(), full));
                    }
                }
}

TEST_P(CountedOn, NothingIsSaturatedWithoutAFullScale) {
    const auto results = results_of(*executor, {"speckle"}, {33, 21, 1, PixelType::f32}, [](Frame& frame) {
        test::paint_scene(frame.host(), 1e30, 3, 0);
        frame.info().full_scale = 0;
    });
    EXPECT_EQ(results[0].counts.raw_samples, 0U);
    EXPECT_EQ(results[0].counts.raw_saturated, 0U);
    EXPECT_EQ(results[0].counts.windows, 0U);
    EXPECT_EQ(saturated_share(results[0].counts), 0);
}

TEST_P(CountedOn, NonFinitePixelsInAnyFinalImage) {
    for (const std::vector<std::string>& stages : {std::vector<std::string>{}, {"flip"}, {"flip", "crop"}})
        for (const int channels : {1, 3}) {
            const auto results =
                results_of(*executor, stages, {61, 40, channels, PixelType::f32}, [](Frame& frame) {
                    const auto view = frame.host().as<float>();
                    test::paint_scene(frame.host(), 4000, 3, 0);
                    view.row(3)[5] = view.row(3)[6] =
                        std::nanf(""); // in colour two samples, of one pixel or of two
                    view.row(7)[0] = std::numeric_limits<float>::infinity();
                    view.row(39)[view.width * view.channels - 1] = -std::numeric_limits<float>::infinity();
                    view.row(20)[30] = std::nanf("");
                });
            const PixelCounts seen = not_finite(results[0].image.host());
            EXPECT_GT(seen.undefined, 1U);
            EXPECT_EQ(seen.infinite, 2U);
            EXPECT_EQ(results[0].counts.undefined, seen.undefined);
            EXPECT_EQ(results[0].counts.infinite, seen.infinite);
        }
}

TEST_P(CountedOn, TheLastStageThatChecksSamplesWithAFullScale) {
    // The correction marks samples at full scale, and later windows see the marks.
    const auto speckle = results_of(*executor, {"speckle:radius=2"});
    const auto corrected = results_of(*executor, {"background:black=64", "speckle:radius=2"});
    const auto cut = results_of(*executor, {"background:black=64", "crop:width=20,height=20"});
    EXPECT_EQ(corrected[2].counts.saturated, speckle[2].counts.saturated);
    EXPECT_EQ(corrected[2].counts.raw_saturated, speckle[2].counts.raw_saturated);
    EXPECT_EQ(cut[2].counts.saturated, cut[2].counts.raw_saturated) << "one pixel, one window";
    // K has no full scale: temporal after speckle has nothing to count.
    const auto twice = results_of(*executor, {"speckle:radius=2", "temporal:frames=3"});
    EXPECT_EQ(twice[2].counts.saturated, speckle[2].counts.saturated);
}

/// Pixels of `shape` minus `margin` whose window of `radius` contains a sample at full scale in one of the
/// frames.
std::uint64_t windows_that_saw_one(const std::vector<Result>& results, std::size_t first, std::size_t last,
                                   int radius, int margin) {
    std::uint64_t count = 0;
    for (int y = margin; y < kFrame.height - margin; ++y)
        for (int x = margin; x < kFrame.width - margin; ++x) {
            bool any = false;
            for (std::size_t t = first; t <= last; ++t)
                for (int v = std::max(0, y - radius); v <= std::min(kFrame.height - 1, y + radius); ++v)
                    for (int u = std::max(0, x - radius); u <= std::min(kFrame.width - 1, x + radius); ++u)
                        any = any || results[t].raw.host().as<std::uint16_t>().row(v)[u] >= kFull;
            count += any ? 1 : 0;
        }
    return count;
}

TEST_P(CountedOn, WindowsOfEveryAveragedFrame) {
    struct Case {
        std::string contrast;
        int frames, radius, margin;
    };
    for (const Case& tested : {Case{"speckle:radius=2,output=contrast2", 1, 2, 0},
                               {"speckle:radius=1,output=contrast2,border=crop", 1, 1, 1},
                               {"speckle:radius=3,output=contrast2,border=omit", 1, 3, 0},
                               {"temporal:frames=2,output=contrast2", 2, 0, 0},
                               {"spatiotemporal:frames=2,radius=1,output=contrast2", 2, 1, 0}})
        for (const std::string kind : {"window", "exponential"}) {
            SCOPED_TRACE(tested.contrast + ", " + kind);
            const auto results = results_of(
                *executor, {tested.contrast, "gaussian:sigma=1", "average:frames=3,kind=" + kind, "flow"},
                kFrame, [](Frame& frame) { // few samples are at full scale, different ones in each frame
                    const auto view = frame.host().as<std::uint16_t>();
                    const auto t = static_cast<int>(frame.info().sequence - 100);
                    for (int y = 0; y < kFrame.height; ++y)
                        for (int x = 0; x < kFrame.width; ++x)
                            view.row(y)[x] = static_cast<std::uint16_t>(
                                (x * 31 + y * 57 + t * 211) % 1009 == 0 ? kFull : 1000 + (x * y + t) % 97);
                });
            for (std::size_t t = 0; t < results.size(); ++t) {
                // A window of 2 frames restarts the mean when it is full, at frame 1.
                const std::size_t reach = static_cast<std::size_t>(tested.frames) + 1;
                const std::size_t first = t < reach ? 0 : t - reach;
                EXPECT_EQ(results[t].counts.saturated,
                          windows_that_saw_one(results, first, t, tested.radius, tested.margin))
                    << t;
            }
        }
}

} // namespace specklescope::kept_test
