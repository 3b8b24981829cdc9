// The trace history over a session: added and removed regions, restarts, sources, means, a reader parallel to
// the writer.
#include "analysis/baseline.hpp"
#include "tests/analysis/trace_history_helpers.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

namespace specklescope::trace_history_life_test {

TEST(TraceHistory, AddedRemovedAndRenamedRegionsDoNotAffectOthers) {
    TraceHistory history;
    std::uint64_t n = 0;
    const auto push = [&](const std::shared_ptr<const PlacedRegions>& regions,
                          const std::vector<double>& means) {
        for (int i = 0; i < 50; ++i, ++n)
            history.push(result(n, static_cast<std::int64_t>(n) * kMs, regions, means));
    };
    push(placed({"a", "b"}), {1, 2});
    const auto ids = [&] {
        std::map<std::string, std::uint64_t> found;
        for (const TraceRegion& region : history.overview().regions)
            found[region.name] = region.id;
        return found;
    };
    const auto before = ids();
    push(placed({"a", "b", "c"}), {1, 2, 3}); // one more
    auto now = ids();
    EXPECT_EQ(now.at("a"), before.at("a"));
    EXPECT_EQ(now.at("b"), before.at("b"));
    const std::uint64_t c = now.at("c");
    push(placed({"a", "of b", "c"}), {1, 2, 3}); // the same pixels, renamed
    now = ids();
    EXPECT_EQ(now.at("of b"), before.at("b"));
    auto swapped = std::make_shared<PlacedRegions>(*placed({"a", "of b", "c"}));
    std::swap(swapped->regions[0], swapped->regions[2]); // reordered
    push(swapped, {3, 2, 1});
    EXPECT_EQ(history.overview().regions[0].id, c);
    EXPECT_EQ(history.overview().regions[2].id, before.at("a"));
    push(placed({"a", "c"}, 100), {1, 3}); // one moved, one removed
    now = ids();
    EXPECT_EQ(now.at("a"), before.at("a"));
    EXPECT_EQ(now.at("c"), c);
    EXPECT_EQ(now.size(), 2U);
    const auto curves = history.curves(0, 250 * kMs, 250);
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0].size(), 250U); // a was always present
    ASSERT_EQ(curves[1].size(), 200U); // c from the 50th frame on
    EXPECT_EQ(curves[1].front().time_ns, 50 * kMs);
    for (const TraceColumn& column : curves[0])
        EXPECT_EQ(column.low, 1);
    for (const TraceColumn& column : curves[1])
        EXPECT_EQ(column.high, 3);
    push(placed({"new"}, 500), {9}); // another name and other pixels
    EXPECT_GT(history.overview().regions[0].id, c);
}

/// Moving a region drops its values from F₀. The other region keeps its own.
TEST(TraceHistory, ValuesOfAnotherOutlineAreNotCompared) {
    TraceHistory history;
    std::uint64_t n = 0;
    const auto push = [&](const std::shared_ptr<const PlacedRegions>& regions,
                          const std::vector<double>& means, bool again = false) {
        const std::uint64_t number = again ? n - 1 : n;
        Result frame = result(number, static_cast<std::int64_t>(number) * 100 * kMs, regions, means);
        frame.repeated = again;
        frame.chain = std::make_shared<const Chain>();
        history.push(frame);
        n += again ? 0 : 1;
    };
    const auto before = placed({"a", "b"});
    auto after = std::make_shared<PlacedRegions>(*before);
    after->spans[1].x = 30; // the same size
    for (int i = 0; i < 50; ++i)
        push(before, {10, 20});
    Baseline old;
    ASSERT_TRUE(old.take(history, 60));
    for (int i = 0; i < 50; ++i)
        push(after, {10, 5});
    const TraceOverview about = history.overview();
    ASSERT_EQ(about.restarts.size(), 1U);
    EXPECT_TRUE(about.restarts[0].edit);
    EXPECT_EQ(about.restarts[0].time_ns, 5000 * kMs);
    EXPECT_NE(about.restarts[0].what.find("outline of b"), std::string::npos);
    EXPECT_EQ(old.of(about.regions[0], about), 10);
    EXPECT_EQ(old.of(about.regions[1], about), std::nullopt);
    EXPECT_NE(old.changed(about), "");

    Baseline taken;
    ASSERT_TRUE(taken.take(history, 60)); // over the edit
    EXPECT_EQ(taken.of(about.regions[0], about), 10);
    EXPECT_EQ(taken.of(about.regions[1], about), 5); // not 12.5
    EXPECT_EQ(taken.taken()->regions[0].frames, 100U);
    EXPECT_EQ(taken.taken()->regions[1].frames, 50U);
    for (const int columns : {1000, 9}) { // samples, and blocks of them
        const auto curves = history.curves(0, 10000 * kMs, columns);
        for (const TraceColumn& column : curves[0])
            EXPECT_TRUE(about.comparable(column, taken.taken()->with));
        bool any = false;
        for (const TraceColumn& column : curves[1]) {
            const bool comparable = about.comparable(column, taken.taken()->with);
            EXPECT_EQ(comparable, column.high == 5) << columns << ": " << column.low << " " << column.high;
            any = any || comparable;
        }
        EXPECT_TRUE(any);
    }
    const auto extremes = history.extremes(0, 10000 * kMs, taken.taken()->with);
    EXPECT_EQ(extremes[0]->high, 10);
    EXPECT_EQ(extremes[1]->high, 5);
    EXPECT_EQ(history.extremes(0, 10000 * kMs)[1]->high, 20); // the curve itself stays

    EXPECT_FALSE(about.only_newest(about.regions[1]));
    push(before, {10, 20}, true); // moved back while paused
    const TraceOverview paused = history.overview();
    EXPECT_TRUE(paused.only_newest(paused.regions[1]));
    EXPECT_FALSE(paused.only_newest(paused.regions[0]));
    EXPECT_EQ(taken.of(paused.regions[1], paused), std::nullopt);
    EXPECT_EQ(old.of(paused.regions[1], paused), 20);
}

TEST(TraceHistory, ContinuesAfterARestartWithAMark) {
    TraceHistory history;
    StreamInfo stream;
    stream.source_text = "first.tiff";
    history.open(stream);
    const auto regions = placed({"a"});
    const auto push = [&](std::uint64_t sequence, std::int64_t capture, bool jump) {
        history.push(result(sequence, capture, regions, {1}, jump));
    };
    push(0, 100 * kMs, true);
    push(1, 110 * kMs, false);
    push(2, 120 * kMs, false);
    push(3, 20 * kMs, true); // backwards
    push(4, 30 * kMs, false);
    push(5, 500 * kMs, true); // forwards: the time between has passed
    stream.source_text = "second.tiff";
    history.open(stream);
    push(0, 90000 * kMs, true); // another clock
    push(1, 90010 * kMs, false);
    const TraceOverview about = history.overview();
    ASSERT_EQ(about.restarts.size(), 3U);
    EXPECT_EQ(about.restarts[0].time_ns, 130 * kMs);
    EXPECT_EQ(about.restarts[1].time_ns, 610 * kMs);
    EXPECT_EQ(about.restarts[2].what, "source second.tiff");
    EXPECT_EQ(about.restarts[2].time_ns, 620 * kMs);
    const auto curve = history.curves(0, 1000 * kMs, 1000).at(0);
    ASSERT_EQ(curve.size(), 8U);
    const std::vector<std::int64_t> times = {100, 110, 120, 130, 140, 610, 620, 630};
    const std::vector<bool> broken = {true, false, false, true, false, true, true, false};
    for (std::size_t i = 0; i < curve.size(); ++i) {
        EXPECT_EQ(curve[i].time_ns, times[i] * kMs);
        EXPECT_EQ(curve[i].broken, broken[i]) << i;
    }
    EXPECT_EQ(history.values_at(629 * kMs)->moment.capture_ns, 90010 * kMs); // on the source's own clock
    EXPECT_EQ(history.values_at(138 * kMs)->moment.capture_ns, 30 * kMs);
    EXPECT_EQ(about.newest->sequence, 1U);
}

TEST(TraceHistory, RestartsWithAnotherQuantity) {
    TraceHistory history;
    const auto regions = placed({"a"});
    for (std::uint64_t i = 0; i < 10; ++i)
        history.push(result(i, static_cast<std::int64_t>(i) * kMs, regions, {1}));
    Result next = result(10, 10 * kMs, regions, {5});
    next.quantity.name = "speckle flow index";
    next.quantity.unit = "1/s";
    history.push(next);
    const TraceOverview about = history.overview();
    EXPECT_EQ(about.frames, 1U);
    EXPECT_EQ(about.quantity.unit, "1/s");
    ASSERT_EQ(about.restarts.size(), 1U);
    EXPECT_EQ(about.restarts[0].what, "now speckle flow index");
    EXPECT_EQ(history.curves(0, 20 * kMs, 100).at(0).size(), 1U);
}

TEST(TraceHistory, RepeatedResultsAreNotFrames) {
    TraceHistory history;
    Result again = result(3, 3 * kMs, placed({"a"}), {1});
    again.repeated = true;
    history.push(again);
    EXPECT_EQ(history.overview().frames, 0U);
    EXPECT_FALSE(history.overview().newest);
}

TEST(TraceHistory, FramesWithoutRegionsLeaveAGap) {
    TraceHistory history;
    const auto regions = placed({"a"});
    history.push(result(0, 0, regions, {1}));
    history.push(result(1, 10 * kMs, nullptr, {}));
    EXPECT_EQ(history.overview().newest->sequence, 1U);
    EXPECT_TRUE(history.overview().regions.empty());
    history.push(result(2, 20 * kMs, regions, {2}));
    EXPECT_TRUE(history.curves(0, 100 * kMs, 500).at(0).at(0).broken);
}

/// A source that still runs while another one has opened.
TEST(TraceHistory, TakesFramesOfTheFeedThatWasOpenedLast) {
    const auto history = std::make_shared<TraceHistory>();
    const auto old = make_trace_feed(history), next = make_trace_feed(history);
    const auto regions = placed({"a"});
    StreamInfo stream;
    stream.source_text = "old";
    old->open(stream);
    old->push(result(0, 0, regions, {1}), false);
    stream.source_text = "next";
    next->open(stream);
    old->push(result(1, 10 * kMs, regions, {2}), false);
    next->push(result(0, 0, regions, {3}, true), false);
    old->push(result(2, 20 * kMs, regions, {4}), false);
    next->close();
    EXPECT_EQ(history->overview().frames, 2U);
    EXPECT_EQ(history->overview().regions.at(0).newest, 3);
    ASSERT_EQ(history->overview().restarts.size(), 1U);
    EXPECT_EQ(history->overview().restarts[0].what, "source next");
    EXPECT_FALSE(next->wants_host_image());
}

/// K² is averaged, then converted: not the flow itself.
TEST(TraceHistory, MeansOverTimeAreTakenOnSquaresOfContrast) {
    auto random = test::test_random(7104);
    std::uniform_real_distribution<double> contrast(0.05, 0.6);
    constexpr double kScale = 50; // flow = kScale / K²
    struct Case {
        RegionMean mean;
        double (*value)(double k);
        double (*from_squares)(double mean_k2);
    };
    for (const Case& kind :
         {Case{RegionMean::plain, [](double k) { return k * k; }, [](double k2) { return k2; }},
          Case{RegionMean::of_squares, [](double k) { return k; }, [](double k2) { return std::sqrt(k2); }},
          Case{RegionMean::of_inverses, [](double k) { return kScale / (k * k); },
               [](double k2) { return kScale / k2; }}}) {
        TraceHistory history;
        const auto regions = placed({"a"});
        double sum = 0;
        int taken = 0;
        for (std::uint64_t i = 0; i < 500; ++i) {
            const double k = i == 450 && kind.mean == RegionMean::of_inverses ? 0.0 : contrast(random);
            const bool missing = i % 17 == 3;
            const double value = missing ? kNaN : kind.value(k); // infinite for K = 0, which counts
            history.push(
                result(i, static_cast<std::int64_t>(i) * 10 * kMs, regions, {value}, false, kind.mean));
            if (i >= 300 && !missing) { // the last 2 s at 100 frames/s
                sum += k * k;
                ++taken;
            }
        }
        const auto means = history.means(2);
        ASSERT_TRUE(means);
        EXPECT_EQ(means->from.sequence, 300U);
        EXPECT_EQ(means->to.sequence, 499U);
        EXPECT_EQ(means->frames, 200U);
        ASSERT_EQ(means->regions.size(), 1U);
        EXPECT_EQ(means->regions[0].frames, static_cast<std::uint64_t>(taken));
        const double expected = kind.from_squares(sum / taken);
        EXPECT_NEAR(means->regions[0].mean, expected, 1e-12 * expected);
    }
}

TEST(TraceHistory, MeansDoNotExtendBeforeARestart) {
    TraceHistory history;
    const auto regions = placed({"a"});
    history.push(result(0, 0, regions, {100}));
    history.push(result(1, 10 * kMs, regions, {2}, true));
    history.push(result(2, 20 * kMs, regions, {4}));
    EXPECT_EQ(history.means(60)->regions.at(0).mean, 3);
    EXPECT_EQ(TraceHistory().means(60), std::nullopt);
}

/// One thread pushes, the other reads as fast as possible: each snapshot is a prefix of the run.
TEST(TraceHistory, CanBeReadWhileItIsWritten) {
    TraceHistory history(1);
    constexpr std::uint64_t kFrames = 200000;
    constexpr std::uint64_t kAhead = 1000; // of the reader: fewer than the queue holds
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> seen = 0;
    std::thread writer([&] {
        const auto regions = placed({"a", "b"});
        for (std::uint64_t i = 0; i < kFrames; ++i) {
            while (i > seen + kAhead)
                std::this_thread::yield();
            const auto value = static_cast<double>(i);
            history.push(result(i, static_cast<std::int64_t>(i) * kMs, regions, {value, -value}));
        }
        done = true;
    });
    std::uint64_t last = 0;
    bool once_more = true;
    while (once_more) {
        once_more = !done;
        const TraceOverview about = history.overview();
        EXPECT_GE(about.frames, last);
        seen = last = about.frames;
        if (about.frames == 0)
            continue;
        EXPECT_EQ(about.last_ns, static_cast<std::int64_t>(about.frames - 1) * kMs);
        const auto curves = history.curves(0, about.last_ns + 1, 64);
        ASSERT_EQ(curves.size(), 2U);
        double high = -1, low = 1;
        for (const TraceColumn& column : curves[0]) {
            EXPECT_GE(column.low, high < 0 ? 0 : high - 2048); // increasing, in contiguous blocks
            high = std::max(high, column.high);
        }
        for (const TraceColumn& column : curves[1])
            low = std::min(low, column.low);
        EXPECT_GE(high, static_cast<double>(about.frames - 1));
        EXPECT_LE(low, -static_cast<double>(about.frames - 1));
    }
    writer.join();
    EXPECT_EQ(history.overview().frames, kFrames);
    EXPECT_EQ(history.overview().lost, 0U);
}

} // namespace specklescope::trace_history_life_test
