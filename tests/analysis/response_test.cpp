// Intervals of traces, their means and the responses in them.
#include "analysis/interval.hpp"
#include "analysis/response.hpp"
#include "tests/analysis/trace_history_helpers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::response_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// F₀ + a·t·exp(−t/τ): its peak is a·τ/e at τ, its integral to T a·τ²(1 − (1 + T/τ)·exp(−T/τ)).
TEST(Response, OfAnAnalyticCurveIsItsMaximumItsMomentAndItsIntegral) {
    constexpr double kF0 = 4, kSlope = 3, kTau = 0.5, kStep = 1e-4, kLast = 3, kFrom = 20;
    std::vector<double> times, values;
    for (int i = 0; i <= std::lround(kLast / kStep); ++i) {
        const double t = i * kStep;
        times.push_back(kFrom + t);
        values.push_back(kF0 + kSlope * t * std::exp(-t / kTau));
    }
    const double peak = kF0 + kSlope * kTau / std::exp(1);
    const double area = kSlope * kTau * kTau * (1 - (1 + kLast / kTau) * std::exp(-kLast / kTau));
    const Response absolute = response_of(times, values, kFrom, RegionMean::plain, kF0, false);
    EXPECT_NEAR(absolute.peak, peak, 1e-8);
    EXPECT_NEAR(absolute.latency_s, kTau, kStep);
    EXPECT_NEAR(absolute.area, area, 1e-7);
    EXPECT_NEAR(absolute.mean, kF0 + area / kLast, 1e-4);
    EXPECT_EQ(absolute.frames, values.size());
    const Response relative = response_of(times, values, kFrom, RegionMean::plain, kF0, true);
    EXPECT_NEAR(relative.peak, 100 * (peak / kF0 - 1), 1e-6);
    EXPECT_NEAR(relative.mean, 100 * (absolute.mean / kF0 - 1), 1e-9);
    EXPECT_NEAR(relative.area, 100 * area / kF0, 1e-5);
    EXPECT_EQ(relative.latency_s, absolute.latency_s);
}

TEST(Response, APeakMayPointDownAndFramesWithoutAValueAreLeftOut) {
    const std::vector<double> times = {1, 1.5, 2, 2.5, 4}, values = {10, kNan, 2, 12, 10};
    const Response response = response_of(times, values, 0.5, RegionMean::plain, 10.0, false);
    EXPECT_EQ(response.peak, 2);
    EXPECT_EQ(response.latency_s, 1.5);
    EXPECT_EQ(response.area, -4 * 1 + (-8 + 2) / 2.0 * 0.5 + 1 * 1.5);
    EXPECT_EQ(response.mean, 34 / 4.0);
    EXPECT_EQ(response.frames, 4U);
    const Response without = response_of(times, values, 0.5, RegionMean::plain, {}, false);
    EXPECT_EQ(without.peak, 12) << "without F₀ the largest value";
    EXPECT_TRUE(std::isnan(without.area));
    EXPECT_TRUE(std::isnan(response_of(times, values, 0.5, RegionMean::plain, {}, true).peak));
    EXPECT_TRUE(std::isnan(response_of({}, {}, 0, RegionMean::plain, 1.0, false).mean));
}

/// c/K² by its inverses, K by its squares: the mean of K².
TEST(Response, TheMeanIsTakenAsThatOfTheRegion) {
    const std::vector<double> times = {0, 1, 2}, values = {2, 4, 4};
    EXPECT_DOUBLE_EQ(response_of(times, values, 0, RegionMean::of_inverses, 3.0, false).mean, 3.0);
    EXPECT_DOUBLE_EQ(response_of(times, values, 0, RegionMean::of_squares, 3.0, false).mean, std::sqrt(12.0));
    const std::vector<double> still = {2, kInfinite, 4};
    EXPECT_DOUBLE_EQ(response_of(times, still, 0, RegionMean::of_inverses, 3.0, false).mean, 4.0);
    EXPECT_EQ(response_of(times, still, 0, RegionMean::of_inverses, 3.0, false).peak, 2);
}

TEST(Intervals, TheFirstIsTheBaselineAndNamesAreUnused) {
    std::vector<Interval> all;
    EXPECT_EQ(add_interval(all, 500, 100), 0U);
    EXPECT_EQ(add_interval(all, 600, 900), 1U);
    EXPECT_EQ(all, (std::vector<Interval>{{"rest", 100, 500, true}, {"stimulus", 600, 900, false}}));
    all[1].name = "interval 3";
    add_interval(all, 1, 2);
    EXPECT_EQ(all[2].name, "stimulus");
    add_interval(all, 1, 2);
    EXPECT_EQ(all[3].name, "interval 4");
    choose_baseline(all, 2);
    EXPECT_EQ(baseline_of(all), 2U);
    choose_baseline(all, {});
    EXPECT_EQ(baseline_of(all), std::nullopt);
    while (all.size() < kMaxIntervals)
        add_interval(all, 1, 2);
    EXPECT_EQ(add_interval(all, 7, 8), kMaxIntervals - 1);
    EXPECT_EQ(all.size(), kMaxIntervals);
}

TEST(Intervals, TheMeanOverAnIntervalIsThatOfItsFrames) {
    for (const RegionMean kind : {RegionMean::plain, RegionMean::of_squares, RegionMean::of_inverses}) {
        TraceHistory history;
        const auto regions = placed({"a", "b"});
        const auto value = [](int i, int region) { return 2 + std::sin(0.7 * i + region); };
        for (int i = 0; i < 100; ++i)
            history.push(result(static_cast<std::uint64_t>(i), i * 10 * kMs, regions,
                                {value(i, 0), i == 42 ? kNaN : value(i, 1)}, i == 20, kind));
        const auto oracle = [&](int from, int to, int region) {
            double sum = 0;
            int count = 0;
            for (int i = from; i <= to; ++i) {
                if (region == 1 && i == 42)
                    continue;
                const double v = value(i, region);
                sum += kind == RegionMean::plain ? v : kind == RegionMean::of_squares ? v * v : 1 / v;
                ++count;
            }
            const double mean = sum / count;
            return kind == RegionMean::plain        ? mean
                   : kind == RegionMean::of_squares ? std::sqrt(mean)
                                                    : 1 / mean;
        };
        const auto means = history.means(30 * 10 * kMs, 50 * 10 * kMs);
        ASSERT_TRUE(means);
        EXPECT_EQ(means->frames, 21U) << "both ends";
        EXPECT_EQ(means->from.sequence, 30U);
        EXPECT_EQ(means->to.sequence, 50U);
        EXPECT_NEAR(means->regions.at(0).mean, oracle(30, 50, 0), 1e-12);
        EXPECT_NEAR(means->regions.at(1).mean, oracle(30, 50, 1), 1e-12);
        EXPECT_EQ(means->regions.at(1).frames, 20U);
        EXPECT_EQ(history.means(10 * 10 * kMs, 25 * 10 * kMs)->from.sequence, 20U) << "after the jump";
        EXPECT_EQ(history.means(5 * 10 * kMs, 10 * 10 * kMs)->frames, 6U) << "before it";
        EXPECT_EQ(history.means(2000 * kMs, 3000 * kMs), std::nullopt);
        EXPECT_EQ(history.means(-20 * kMs, -10 * kMs), std::nullopt);
        EXPECT_EQ(history.means(31 * 10 * kMs + 1, 32 * 10 * kMs - 1), std::nullopt) << "between two frames";
        EXPECT_EQ(history.means(0.05)->frames, 5U);
    }
}

} // namespace specklescope::response_test
