// Statistics compared with exact results of known data.
#include "pipeline/stats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace specklescope::stats_test {

using namespace std::chrono_literals;

double exact_quantile(std::vector<double> sorted, double q) { // the ⌈q·n⌉-th smallest
    std::sort(sorted.begin(), sorted.end());
    const double rank = std::ceil(q * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void expect_quantiles(const std::vector<double>& samples) {
    LatencyHistogram histogram;
    for (const double ms : samples)
        histogram.add(ms);
    const LatencySummary summary = histogram.summary();
    EXPECT_EQ(summary.count, samples.size());
    EXPECT_DOUBLE_EQ(summary.max_ms, *std::max_element(samples.begin(), samples.end()));
    // A bucket is 2 % wide and its centre is reported: 1 % either way (√1.02 exactly), and never beyond the
    // maximum.
    const double tolerance = std::sqrt(1.02) - 1 + 1e-9;
    EXPECT_NEAR(summary.median_ms / exact_quantile(samples, 0.5), 1, tolerance);
    EXPECT_NEAR(summary.p95_ms / exact_quantile(samples, 0.95), 1, tolerance);
    EXPECT_NEAR(summary.p99_ms / exact_quantile(samples, 0.99), 1, tolerance);
    EXPECT_LE(summary.median_ms, summary.p95_ms);
    EXPECT_LE(summary.p95_ms, summary.p99_ms);
    EXPECT_LE(summary.p99_ms, summary.max_ms);
}

TEST(LatencyHistogram, QuantilesAreExactWithinABucket) {
    expect_quantiles({3.7});
    expect_quantiles({1, 2});
    std::vector<double> ramp;
    for (int i = 1; i <= 1000; ++i)
        ramp.push_back(0.05 * i);
    expect_quantiles(ramp);
    const unsigned seed = 20111;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::lognormal_distribution<double> spread(1.0, 1.5); // from microseconds to seconds
    std::vector<double> many(50'000);
    for (double& ms : many)
        ms = spread(random);
    expect_quantiles(many);
}

TEST(LatencyHistogram, EndsOfItsRangeAndBeyond) {
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.summary().count, 0U);
    EXPECT_EQ(histogram.summary().p99_ms, 0);
    histogram.add(0);
    EXPECT_LE(histogram.summary().median_ms, 1e-3);
    histogram.clear();
    histogram.add(90'000); // within 100 s
    EXPECT_NEAR(histogram.summary().median_ms, 90'000, 900);
    histogram.clear();
    histogram.add(1e9); // beyond: counted in the last bucket, the maximum is still exact
    EXPECT_EQ(histogram.summary().count, 1U);
    EXPECT_GE(histogram.summary().median_ms, 99'000);
    EXPECT_EQ(histogram.summary().max_ms, 1e9);
    histogram.clear();
    EXPECT_EQ(histogram.summary().count, 0U);
    EXPECT_EQ(histogram.summary().max_ms, 0);
}

class RateMeterTest : public testing::Test {
protected:
    void tick_every(SteadyClock::duration interval, int times) {
        for (int i = 0; i < times; ++i) {
            meter.tick(now);
            now += interval;
        }
        now -= interval; // the time of the last event
    }
    RateMeter meter;
    SteadyClock::time_point now = SteadyClock::time_point(1h);
};

TEST_F(RateMeterTest, SteadyEventsGiveTheirRate) {
    for (const auto& [interval, rate] : {std::pair{SteadyClock::duration(10ms), 100.0},
                                         {16'666'667ns, 60.0},
                                         {200ms, 5.0},
                                         {500ms, 2.0},
                                         {2s, 0.5},
                                         {100us, 10'000.0}}) {
        meter.clear();
        tick_every(interval, 10'000);
        EXPECT_NEAR(meter.rate(now) / rate, 1, 1e-6) << rate;
        EXPECT_EQ(meter.count(), 10'000U);
    }
}

TEST_F(RateMeterTest, NothingOrOneEventIsNoRate) {
    EXPECT_EQ(meter.rate(now), 0);
    meter.tick(now);
    EXPECT_EQ(meter.rate(now), 0);
}

TEST_F(RateMeterTest, FollowsAChangeWithinASecond) {
    tick_every(10ms, 500);
    now += 20ms;
    tick_every(20ms, 60); // 1.2 s at 50/s
    EXPECT_NEAR(meter.rate(now), 50, 1e-6);
}

TEST_F(RateMeterTest, SilenceCountsFromTwoIntervalsOn) {
    tick_every(10ms, 91); // 90 intervals
    for (const auto silence : {0ms, 9ms, 11ms, 15ms, 19ms, 20ms})
        EXPECT_NEAR(meter.rate(now + silence), 100, 1e-6) << silence.count() << " ms: a frame may be late";
    EXPECT_NEAR(meter.rate(now + 21ms), 90 / 0.921, 1e-6);
    EXPECT_NEAR(meter.rate(now + 100ms), 90 / 1.0, 1e-6);
}

TEST_F(RateMeterTest, FallsMonotonicallyWhenEventsStop) {
    tick_every(10ms, 2000);
    double before = meter.rate(now);
    for (int i = 0; i < 150; ++i) {
        now += 100ms;
        const double rate = meter.rate(now);
        EXPECT_LE(rate, before + 1e-9) << "after " << i << " tenths of a second without an event";
        before = rate;
        if (i >= 15) {
            EXPECT_LT(rate, 2) << "nothing came for " << i << " tenths of a second";
        }
    }
    EXPECT_EQ(before, 0);
}

Result result_with(double latency_ms) {
    Result result;
    result.info.arrival = SteadyClock::now();
    result.ready = result.info.arrival + std::chrono::microseconds(static_cast<int>(latency_ms * 1000));
    return result;
}

TEST(Stats, SumsStageTimesAndKeepsTheNewestCounts) {
    Stats stats;
    for (int i = 1; i <= 4; ++i) {
        Result result = result_with(2);
        result.timings.push_back({"convert", 0.5});
        result.timings.push_back({"speckle", static_cast<double>(i), 0});
        result.counts = {.undefined = static_cast<std::uint64_t>(i), .infinite = 7, .saturated = 9};
        stats.record(result, true);
    }
    const StatsSnapshot s = stats.snapshot();
    ASSERT_EQ(s.stages.size(), 2U);
    EXPECT_EQ(s.stages[0].name, "convert");
    EXPECT_DOUBLE_EQ(s.stages[0].mean_ms, 0.5);
    EXPECT_EQ(s.stages[1].name, "speckle");
    EXPECT_DOUBLE_EQ(s.stages[1].last_ms, 4);
    EXPECT_DOUBLE_EQ(s.stages[1].mean_ms, 2.5);
    EXPECT_EQ(s.counts.last, (PixelCounts{.undefined = 4, .infinite = 7, .saturated = 9}));
    EXPECT_EQ(s.counts.total.undefined, 1U + 2 + 3 + 4);
    EXPECT_EQ(s.frames.processed, 4U);
    EXPECT_EQ(s.latency.count, 4U);
    EXPECT_NEAR(s.latency.median_ms, 2, 0.02);
    stats.start();
    EXPECT_EQ(stats.snapshot().frames.processed, 0U);
    EXPECT_TRUE(stats.snapshot().stages.empty());
    EXPECT_EQ(stats.snapshot().counts.last, PixelCounts{});
    EXPECT_EQ(stats.snapshot().counts.total, PixelCounts{});
}

TEST(Stats, CountsOfTheLastFrameTheWorstAndAll) {
    Stats stats;
    const auto frame = [&](std::uint64_t sequence, const PixelCounts& counts, bool warming_up) {
        Result result = result_with(1);
        result.info.sequence = sequence;
        result.counts = counts;
        if (warming_up)
            result.warmup = {"temporal", 1, 3};
        stats.record(result, true);
    };
    // raw_samples changes with the frame size: the worst frame has the largest fraction.
    frame(10, {.undefined = 600, .saturated = 2, .windows = 100, .raw_saturated = 1, .raw_samples = 600},
          true);
    frame(11,
          {.undefined = 3,
           .infinite = 5,
           .saturated = 50,
           .windows = 100,
           .raw_saturated = 90,
           .raw_samples = 600},
          false);
    frame(12,
          {.undefined = 4,
           .infinite = 2,
           .saturated = 30,
           .windows = 50,
           .raw_saturated = 50,
           .raw_samples = 200},
          false);
    frame(13, {.saturated = 0, .windows = 100, .raw_saturated = 0, .raw_samples = 600}, false);
    const CountHistory counts = stats.snapshot().counts;
    EXPECT_EQ(counts.last, (PixelCounts{.windows = 100, .raw_samples = 600}));
    EXPECT_EQ(counts.worst, (PixelCounts{.undefined = 4,
                                         .infinite = 5,
                                         .saturated = 30,
                                         .windows = 50,
                                         .raw_saturated = 50,
                                         .raw_samples = 200}));
    EXPECT_EQ(counts.worst_frame, 12U);
    EXPECT_EQ(counts.total, (PixelCounts{.undefined = 7,
                                         .infinite = 7,
                                         .saturated = 82,
                                         .windows = 350,
                                         .raw_saturated = 141,
                                         .raw_samples = 2000}));
    EXPECT_EQ(counts.in_warmup, 1U);
}

TEST(Stats, RowsAreTheStepsOfTheNewestChainWithTheirNotes) {
    Stats stats;
    const auto run = [&](const std::vector<std::pair<const char*, int>>& steps,
                         const std::vector<std::string>& notes) {
        Result result = result_with(1);
        for (const auto& [name, stage] : steps)
            result.timings.push_back({name, 1, stage});
        result.notes = std::make_shared<StageNotes>(notes);
        stats.record(result, true);
        std::string rows;
        for (const StageStat& stage : stats.snapshot().stages)
            rows += stage.name + (stage.note.empty() ? "" : "=" + stage.note) + " ";
        return rows;
    };
    // The stage at place 0 is skipped and has no time; its note must not be assigned to another stage.
    EXPECT_EQ(run({{"convert", -1}, {"gaussian", 1}, {"speckle", 2}}, {"left out", "binomial", ""}),
              "convert gaussian=binomial speckle ");
    EXPECT_EQ(run({{"background", 0}, {"gaussian", 1}, {"speckle", 2}}, {"dark", "binomial", ""}),
              "background=dark gaussian=binomial speckle ")
        << "in the order of the chain";
    EXPECT_EQ(run({{"speckle", 0}, {"gaussian", 1}}, {"", "recursive"}), "speckle gaussian=recursive ")
        << "after a reorder";
    EXPECT_EQ(run({{"gaussian", 0}, {"gaussian", 1}}, {"direct", "fft"}), "gaussian=direct gaussian=fft ");
    EXPECT_EQ(run({}, {}), "") << "what is removed has no row";
}

TEST(Stats, TimeBeginsWithTheRun) {
    Stats stats;
    const auto made = SteadyClock::now();
    while (SteadyClock::now() < made + std::chrono::milliseconds(100))
        std::this_thread::yield();
    const auto before = SteadyClock::now();
    stats.start();
    const double seconds = stats.snapshot().seconds;
    EXPECT_GE(seconds, 0);
    EXPECT_LE(seconds, std::chrono::duration<double>(SteadyClock::now() - before).count());
}

TEST(Stats, TheRateExcludesSetUp) {
    Stats stats;
    stats.start();
    const auto begin = SteadyClock::now() + 5s; // the first frame arrives 5 s after the start
    for (int i = 0; i < 31; ++i) {
        Result result;
        result.info.arrival = begin + i * 20ms;
        result.ready = result.info.arrival + 3ms;
        stats.record(result, true);
    }
    const StatsSnapshot s = stats.snapshot();
    EXPECT_NEAR(s.rate.mean, 50, 1e-6);
    EXPECT_NEAR(s.running_s, 0.603, 1e-6);
    stats.start();
    EXPECT_EQ(stats.snapshot().rate.mean, 0);
    Result alone;
    alone.info.arrival = begin;
    alone.ready = begin + 4ms;
    stats.record(alone, true);
    EXPECT_NEAR(stats.snapshot().rate.mean, 250, 1e-6) << "one frame took 4 ms";
}

StatsSnapshot full_snapshot() {
    StatsSnapshot s;
    s.seconds = 2;
    s.rate.acquisition = 1.5;
    s.rate.processing = 2.5;
    s.rate.display = 3.5;
    s.frames.acquired = 11;
    s.frames.processed = 12;
    s.frames.displayed = 13;
    s.frames.not_shown = 14;
    s.frames.passed_over = 15;
    s.frames.settling = 16;
    s.drops = {.source = 1, .ring = 2, .failed = 3, .recorder = 4};
    s.lost_reasons = {{"came without some of their packets", 1}};
    s.clock = ClockReport{.frames = 1000, .span_s = 10, .skew_ppm = 49.5, .skew_error_ppm = 0.5};
    s.clock_name = "camera, PTP Slave";
    s.transfer = {.in_place = 51, .copied = {{"x brought its own memory", 52}, {"no slot was free", 3}}};
    s.queue.depth = 21;
    s.queue.peak = 22;
    s.queue.slots = 23;
    s.queue.slots_free = 24;
    s.queue.grown = 25;
    s.away.reopened = 26;
    s.latency = {.count = 31, .median_ms = 3.25, .p95_ms = 3.5, .p99_ms = 3.75, .max_ms = 4};
    s.to_screen = {.count = 32, .median_ms = 13.25, .p95_ms = 13.5, .p99_ms = 13.75, .max_ms = 14};
    s.stages = {{"speckle", 0.5, 0.25, 0, "as said"}};
    s.counts.last = {41, 42, 43, 44, 45, 46};
    s.counts.worst = {51, 52, 53, 54, 55, 56};
    s.counts.total = {61, 62, 63, 64, 65, 66};
    s.counts.worst_frame = 71;
    s.counts.in_warmup = 72;
    s.newest.exposure = {5, ExposureOrigin::camera};
    s.newest.quantity = {"flow", "SFI", "1/s"};
    s.newest.channel = "red";
    s.rate.mean = 6;
    s.running_s = 1.75;
    s.backend.name = "cpu";
    s.backend.device = "AVX2, 2 threads";
    s.display_path = "upload";
    s.source = "a \"quoted\" name\\with\nbreaks";
    s.chain = "speckle:radius=3";
    s.backend.note = "why";
    return s;
}

TEST(Stats, JsonContainsEverything) {
    const StatsSnapshot s = full_snapshot();
    const auto json = nlohmann::json::parse(to_json(s));
    EXPECT_EQ(json["source"], s.source);
    EXPECT_EQ(json["chain"], s.chain);
    EXPECT_EQ(json["backend"], s.backend.name);
    EXPECT_EQ(json["device"], s.backend.device);
    EXPECT_EQ(json["display_path"], s.display_path);
    EXPECT_EQ(json["note"], s.backend.note);
    EXPECT_EQ(json["seconds"], 2);
    EXPECT_EQ(json["frames"], nlohmann::json({{"acquired", 11},
                                              {"processed", 12},
                                              {"displayed", 13},
                                              {"passed_over", 15},
                                              {"settling", 16},
                                              {"not_shown", 14}}));
    EXPECT_EQ(json["rate"],
              nlohmann::json({{"acquisition", 1.5}, {"processing", 2.5}, {"display", 3.5}, {"mean", 6.0}}));
    EXPECT_EQ(json["drops"],
              nlohmann::json({{"source", 1}, {"ring", 2}, {"failed", 3}, {"recorder", 4}, {"total", 10}}));
    EXPECT_EQ(json["lost_at_source"], nlohmann::json({{"came without some of their packets", 1}}));
    EXPECT_EQ(json["clock"]["skew_ppm"], 49.5);
    EXPECT_EQ(json["clock"]["skew_error_ppm"], 0.5);
    EXPECT_EQ(json["clock"]["name"], "camera, PTP Slave");
    EXPECT_EQ(
        json["queue"],
        nlohmann::json({{"depth", 21}, {"peak", 22}, {"grown", 25}, {"slots", 23}, {"slots_free", 24}}));
    EXPECT_EQ(json["transfer"],
              nlohmann::json({{"in_place", 51},
                              {"copied", 55},
                              {"reasons", {{"x brought its own memory", 52}, {"no slot was free", 3}}}}));
    EXPECT_EQ(json["reopened"], 26);
    EXPECT_EQ(json["latency_ms"],
              nlohmann::json({{"count", 31}, {"median", 3.25}, {"p95", 3.5}, {"p99", 3.75}, {"max", 4.0}}));
    EXPECT_EQ(
        json["to_screen_ms"],
        nlohmann::json({{"count", 32}, {"median", 13.25}, {"p95", 13.5}, {"p99", 13.75}, {"max", 14.0}}));
    EXPECT_EQ(
        json["stages_ms"],
        nlohmann::json::array({{{"name", "speckle"}, {"last", 0.5}, {"mean", 0.25}, {"note", "as said"}}}));
    const auto counts = [](int first) {
        return nlohmann::json({{"undefined", first},
                               {"infinite", first + 1},
                               {"saturated", first + 2},
                               {"windows", first + 3},
                               {"raw_saturated", first + 4},
                               {"raw_samples", first + 5}});
    };
    EXPECT_EQ(json["pixels"],
              nlohmann::json(
                  {{"last", counts(41)}, {"worst", counts(51)}, {"total", counts(61)}, {"worst_frame", 71}}));
    EXPECT_EQ(json["warmup"]["frames_made_in_it"], 72);
    EXPECT_EQ(json["exposure_used_ms"], 5);
    EXPECT_EQ(json["exposure_origin"], "camera");
    EXPECT_EQ(json["quantity"], nlohmann::json({{"name", "flow"}, {"unit", "1/s"}}));
    EXPECT_EQ(json["channel"], "red");
    EXPECT_EQ(json["running_s"], 1.75);
}

TEST(Stats, TransferListsTheReasonOfEveryCopy) {
    EXPECT_EQ(to_string(TransferCounts{}), "");
    Stats stats;
    stats.in_place = 7;
    EXPECT_EQ(to_string(stats.snapshot().transfer), "7 without a copy");
    stats.copied("no slot was free");
    stats.copied("no slot was free");
    EXPECT_EQ(to_string(stats.snapshot().transfer), "7 without a copy, 2 copied once (no slot was free)");
    stats.copied("x brought its own memory");
    EXPECT_EQ(to_string(stats.snapshot().transfer),
              "7 without a copy, 3 copied once (2: no slot was free; 1: x brought its own memory)");
    stats.start();
    EXPECT_EQ(to_string(stats.snapshot().transfer), "");
}

TEST(Stats, JsonIsWrittenForAnyFileName) {
    StatsSnapshot s = full_snapshot();
    s.source = "caf\xE9.avi"; // Latin-1, not UTF-8: file names are bytes
    std::string text;
    ASSERT_NO_THROW(text = to_json(s));
    EXPECT_EQ(nlohmann::json::parse(text)["source"], "caf\xEF\xBF\xBD.avi");
}

} // namespace specklescope::stats_test
