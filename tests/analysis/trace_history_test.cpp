// Columns of the trace history: extremes, gaps and memory, compared with a simple list of everything.
#include "tests/analysis/trace_history_helpers.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <random>

namespace specklescope::trace_history_test {

struct Point {
    std::int64_t time = 0;
    std::uint64_t sequence = 0;
    double value = kNaN;
};

/// A random run of one region: NaN, infinite values, dropped frames, uneven times, and jumps of its values.
std::vector<Point> random_run(std::mt19937_64& random, std::size_t frames) {
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<Point> run;
    std::int64_t time = 0;
    std::uint64_t sequence = 0;
    double level = 10;
    bool absent = false;
    for (std::size_t i = 0; i < frames; ++i) {
        const bool dropped = unit(random) < 0.003;
        const std::uint64_t lost = dropped ? 1 + static_cast<std::uint64_t>(unit(random) * 400) : 0;
        sequence += 1 + lost;
        time += static_cast<std::int64_t>(lost + 1) * kMs + static_cast<std::int64_t>(unit(random) * 1000);
        level += unit(random) - 0.5;
        if (unit(random) < (absent ? 0.05 : 0.001))
            absent = !absent;
        const double spike = unit(random) < 0.0005 ? 1000 * (unit(random) - 0.5) : 0;
        const double value = absent ? (unit(random) < 0.5 ? kNaN : INFINITY) : level + spike;
        run.push_back({time, sequence, value});
    }
    return run;
}

void push_all(TraceHistory& history, const std::vector<Point>& run) {
    const auto regions = placed({"a"});
    for (const Point& point : run)
        history.push(result(point.sequence, point.time, regions, {point.value}));
}

/// Reference by examining every sample: columns with a finite value, and gaps before them.
std::vector<TraceColumn> plain_columns(const std::vector<Point>& run, std::int64_t from, std::int64_t to,
                                       int columns) {
    const double step = static_cast<double>(to - from) / columns;
    const std::int64_t begin = from - static_cast<std::int64_t>(step);
    std::vector<TraceColumn> expected;
    bool broken = true;
    for (int c = 0; c < columns + 2; ++c) {
        const std::int64_t first = begin + static_cast<std::int64_t>(c * step);
        const std::int64_t last = begin + static_cast<std::int64_t>((c + 1) * step);
        TraceColumn column{begin + static_cast<std::int64_t>((c + 0.5) * step), INFINITY, -INFINITY, false};
        bool any_frame = false, finite = false;
        for (std::size_t i = 0; i < run.size(); ++i) {
            if (run[i].time < first || run[i].time >= last)
                continue;
            if (!any_frame && (i == 0 || run[i].sequence != run[i - 1].sequence + 1))
                broken = true;
            any_frame = true;
            if (std::isfinite(run[i].value)) {
                finite = true;
                column.low = std::min(column.low, run[i].value);
                column.high = std::max(column.high, run[i].value);
            }
        }
        if (any_frame && !finite)
            broken = true;
        if (finite) {
            column.broken = std::exchange(broken, false);
            expected.push_back(column);
        }
    }
    return expected;
}

TEST(TraceHistory, ColumnsAreTheExtremesOfEverySampleInThem) {
    auto random = test::test_random(7101);
    const std::vector<Point> run = random_run(random, 40000);
    TraceHistory history;
    push_all(history, run);
    const std::int64_t all = run.back().time;
    std::uniform_real_distribution<double> unit(0, 1);
    for (int round = 0; round < 12; ++round) {
        const auto from = static_cast<std::int64_t>(unit(random) * 0.5 * static_cast<double>(all));
        const auto to =
            from + static_cast<std::int64_t>((0.2 + 0.4 * unit(random)) * static_cast<double>(all));
        const int columns = 20 + static_cast<int>(unit(random) * 700);
        const auto curves = history.curves(from, to, columns);
        ASSERT_EQ(curves.size(), 1U);
        const auto expected = plain_columns(run, from, to, columns);
        ASSERT_EQ(curves[0].size(), expected.size()) << columns;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(curves[0][i].time_ns, expected[i].time_ns);
            EXPECT_EQ(curves[0][i].low, expected[i].low) << i;
            EXPECT_EQ(curves[0][i].high, expected[i].high) << i;
            EXPECT_EQ(curves[0][i].broken, expected[i].broken) << i;
        }
    }
}

TEST(TraceHistory, FewSamplesAreReturnedSinglyWithGaps) {
    auto random = test::test_random(7102);
    const std::vector<Point> run = random_run(random, 3000);
    TraceHistory history;
    push_all(history, run);
    const std::int64_t from = run[1000].time, to = run[1400].time;
    const auto curves = history.curves(from, to, 900);
    std::vector<TraceColumn> expected;
    bool broken = true;
    for (std::size_t i = 999; i <= 1400; ++i) { // one extra on each side
        broken = broken || run[i].sequence != run[i - 1].sequence + 1 || !std::isfinite(run[i].value);
        if (std::isfinite(run[i].value))
            expected.push_back({run[i].time, run[i].value, run[i].value, std::exchange(broken, false)});
    }
    ASSERT_EQ(curves[0].size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(curves[0][i].time_ns, expected[i].time_ns);
        EXPECT_EQ(curves[0][i].low, expected[i].low);
        EXPECT_EQ(curves[0][i].high, expected[i].high);
        EXPECT_EQ(curves[0][i].broken, expected[i].broken) << i;
    }
}

/// Warm-ups at the start and after each seek, with values that would dominate.
TEST(TraceHistory, TheRangeExcludesWarmUpFrames) {
    auto random = test::test_random(7104);
    std::uniform_real_distribution<double> unit(0, 1);
    constexpr int kFilms = 300, kFrames = 200, kWarm = 24;
    for (const std::size_t budget : {TraceHistory::kBudget, std::size_t{1}}) {
        TraceHistory history(budget);
        const auto regions = placed({"a"});
        std::vector<std::pair<double, bool>> run; // value, warming up; one frame per ms
        for (int film = 0; film < kFilms; ++film)
            for (int i = 0; i < kFrames; ++i) {
                run.emplace_back(i < kWarm ? 1000 + unit(random) : unit(random), i < kWarm);
                const auto index = static_cast<std::int64_t>(run.size()) - 1;
                Result made =
                    result(static_cast<std::uint64_t>(index), index * kMs, regions, {run.back().first});
                if (i % 2 == 0) // now, or when it was recorded
                    made.warmup = {"temporal", std::min(i, kWarm), kWarm};
                else
                    made.info.recorded_in_warmup = i < kWarm;
                history.push(made);
            }
        for (int round = 0; round < 40; ++round) {
            const bool whole = budget == TraceHistory::kBudget;
            const auto last = static_cast<std::int64_t>(run.size()) - 1;
            // In the full-resolution part, and where not all warm-ups are known any more.
            const std::int64_t length = 1 + static_cast<std::int64_t>(unit(random) * (whole ? 40000 : 1000));
            const std::int64_t from =
                whole ? static_cast<std::int64_t>(unit(random) * static_cast<double>(last - length))
                      : last - length;
            const std::int64_t first_known = static_cast<std::int64_t>(kFilms - 250) * kFrames;
            if (from < first_known)
                continue;
            double low = INFINITY, high = -INFINITY, all_low = INFINITY, all_high = -INFINITY;
            for (std::int64_t i = from; i <= from + length; ++i) {
                const auto [value, warm] = run[static_cast<std::size_t>(i)];
                all_low = std::min(all_low, value);
                all_high = std::max(all_high, value);
                if (!warm) {
                    low = std::min(low, value);
                    high = std::max(high, value);
                }
            }
            const auto seen = history.extremes(from * kMs, (from + length) * kMs).at(0);
            ASSERT_TRUE(seen);
            EXPECT_EQ(seen->low, low <= high ? low : all_low) << from << " " << length;
            EXPECT_EQ(seen->high, low <= high ? high : all_high) << from << " " << length;
        }
        // Over the whole run, with older samples in blocks and more warm-ups than are stored separately: none
        // of them dominates.
        const auto seen = history.extremes(0, static_cast<std::int64_t>(run.size()) * kMs).at(0);
        ASSERT_TRUE(seen);
        EXPECT_LT(seen->high, 1.0);
        EXPECT_GT(seen->high - seen->low, 0.9);
        // Only a warm-up: its own range is better than none.
        const std::int64_t begin = (kFilms - 1) * kFrames;
        const auto warm = history.extremes((begin + 2) * kMs, (begin + 9) * kMs).at(0);
        ASSERT_TRUE(warm);
        EXPECT_GT(warm->low, 999);
    }
}

/// With so little memory that most of the run is in blocks.
TEST(TraceHistory, BlocksOfOldSamplesKeepAllExtremes) {
    auto random = test::test_random(7103);
    const std::vector<Point> run = random_run(random, 300000);
    TraceHistory history(1); // the minimum: 1024 samples at full resolution
    push_all(history, run);
    const TraceOverview about = history.overview();
    EXPECT_EQ(about.frames, run.size());
    EXPECT_EQ(about.first_ns, run.front().time);
    EXPECT_EQ(about.last_ns, run.back().time);
    EXPECT_LT(about.bytes, 300000U) << "bounded";
    double low = INFINITY, high = -INFINITY;
    for (const Point& point : run)
        if (std::isfinite(point.value)) {
            low = std::min(low, point.value);
            high = std::max(high, point.value);
        }
    const auto curve = history.curves(0, about.last_ns + 1, 300).at(0);
    double seen_low = INFINITY, seen_high = -INFINITY;
    std::size_t holding = 0;
    for (const TraceColumn& column : curve) {
        seen_low = std::min(seen_low, column.low);
        seen_high = std::max(seen_high, column.high);
        EXPECT_LE(column.low, column.high);
    }
    EXPECT_EQ(seen_low, low);
    EXPECT_EQ(seen_high, high);
    // Each sample is within the extremes of a column no further away than its block is long, plus a column.
    // The newest 64 blocks of each size are stored, so that a sample's block is at most a 32nd of its age.
    const double step = static_cast<double>(about.last_ns + 1) / 300;
    for (std::size_t i = 0; i < run.size(); i += 37) {
        if (!std::isfinite(run[i].value))
            continue;
        const std::size_t block = 16 + (run.size() - i) / 32;
        const double reach =
            2 * step + static_cast<double>(run[i].time - run[i > block ? i - block : 0].time);
        const bool held = std::any_of(curve.begin(), curve.end(), [&](const TraceColumn& column) {
            return std::abs(static_cast<double>(column.time_ns - run[i].time)) < reach &&
                   run[i].value >= column.low && run[i].value <= column.high;
        });
        EXPECT_TRUE(held) << i;
        holding += held ? 1 : 0;
    }
    EXPECT_GT(holding, 5000U);
    // The newest are still at full resolution.
    const auto found = history.values_at(run[run.size() - 500].time);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->exact);
    EXPECT_EQ(found->moment.sequence, run[run.size() - 500].sequence);
    EXPECT_FALSE(history.values_at(run[1000].time)->exact);
}

TEST(TraceHistory, MemoryStaysWithinItsBudgetForAnyNumberOfRegions) {
    for (const std::size_t count : {1U, 16U, 300U}) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < count; ++i)
            names.push_back("r" + std::to_string(i));
        const auto regions = placed(names);
        constexpr std::size_t kBudget = std::size_t{12} << 20;
        TraceHistory history(kBudget);
        auto values = std::make_shared<RegionValues>();
        values->placed = regions;
        values->statistics.resize(count);
        Result frame;
        frame.regions = values;
        for (std::uint64_t i = 0; i < 60000; ++i) {
            frame.info.sequence = i;
            frame.info.capture_ns = static_cast<std::int64_t>(i) * kMs;
            history.push(frame);
        }
        EXPECT_LE(history.overview().bytes, kBudget) << count;
        EXPECT_EQ(history.overview().frames, 60000U);
    }
}

} // namespace specklescope::trace_history_test
