// The trace history of a film: one value per region and frame, whatever is played, sought or repeated.
#include "analysis/film_traces.hpp"
#include "tests/analysis/trace_history_helpers.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace specklescope::film_traces_test {

constexpr std::int64_t kStep = 50 * kMs; // 20 frames/s

std::vector<TraceColumn> first_of(const std::vector<std::vector<TraceColumn>>& curves) {
    return curves.at(0);
}

/// A film that is played, sought and edited: its frames carry their position and time.
class FilmHistory : public testing::Test {
protected:
    FilmHistory() { open("film.tif"); }
    void open(const std::string& name) {
        StreamInfo stream;
        stream.source_text = name;
        history.open(stream);
    }
    Result frame(std::uint64_t position, double value, int radius = 3) {
        ++played_; // increases with every frame that is played
        Result made = result(played_, static_cast<std::int64_t>(played_) * 7 * kMs, regions, {value, -value});
        made.info.position = position;
        made.info.film_ns = static_cast<std::int64_t>(position) * kStep;
        made.chain = chain(radius);
        return made;
    }
    static std::shared_ptr<const Chain> chain(int radius) {
        static std::map<int, std::shared_ptr<const Chain>> known;
        auto& one = known[radius];
        if (!one)
            one = std::make_shared<const Chain>(chain_from_text("speckle:radius=" + std::to_string(radius)));
        return one;
    }
    static double value_of(std::uint64_t position, int radius) {
        return radius * 1000 + std::sin(static_cast<double>(position)) * 100;
    }
    void play(std::uint64_t from, std::uint64_t to, int radius = 3) {
        for (std::uint64_t i = from; i < to; ++i)
            history.push(frame(i, value_of(i, radius), radius));
    }
    double at(std::uint64_t position) {
        const auto found = history.values_at(static_cast<std::int64_t>(position) * kStep);
        return found && found->moment.position == position ? found->values.at(0) : kNaN;
    }
    TraceHistory history;
    std::shared_ptr<const PlacedRegions> regions = placed({"a", "b"});
    std::uint64_t played_ = 0;
};

TEST_F(FilmHistory, TheAxisIsTheFilmsOwnTimeAndDoesNotGrow) {
    play(0, 100);
    for (int round = 0; round < 3; ++round)
        play(0, 100);
    play(40, 60);
    const TraceOverview about = history.overview();
    EXPECT_TRUE(about.film);
    EXPECT_EQ(about.frames, 100U);
    EXPECT_EQ(about.first_ns, 0);
    EXPECT_EQ(about.last_ns, 99 * kStep);
    EXPECT_TRUE(about.restarts.empty()) << "a seek is no mark";
    EXPECT_EQ(about.newest->position, 59U);
    EXPECT_EQ(about.newest->time_ns, 59 * kStep);
    const auto curve = history.curves(0, 100 * kStep, 1000).at(0);
    ASSERT_EQ(curve.size(), 100U);
    for (std::size_t i = 0; i < curve.size(); ++i) {
        EXPECT_EQ(curve[i].time_ns, static_cast<std::int64_t>(i) * kStep);
        EXPECT_EQ(curve[i].low, value_of(i, 3));
        EXPECT_EQ(curve[i].broken, i == 0);
    }
}

TEST_F(FilmHistory, AFilmThatIsJoinedInTheMiddleHasItsPlace) {
    play(500, 510);
    EXPECT_EQ(history.overview().last_ns, 509 * kStep);
    EXPECT_EQ(at(500), value_of(500, 3));
    EXPECT_EQ(history.overview().frames, 10U);
    play(20, 30);
    EXPECT_EQ(at(20), value_of(20, 3));
    const auto curve = history.curves(0, 600 * kStep, 2000).at(0);
    ASSERT_EQ(curve.size(), 20U);
    EXPECT_TRUE(curve[10].broken) << "frames between were not seen";
}

/// Values of other settings stay, marked as such, until they are overwritten.
TEST_F(FilmHistory, AReplayOverwrites) {
    play(0, 100);
    play(30, 60, 6);
    TraceOverview about = history.overview();
    EXPECT_EQ(about.frames, 100U);
    ASSERT_EQ(about.restarts.size(), 2U);
    EXPECT_EQ(about.restarts[0].time_ns, 30 * kStep);
    EXPECT_NE(about.restarts[0].what.find("radius"), std::string::npos);
    const auto made = [&](int radius) {
        Result one = frame(0, 0, radius);
        return made_with(one);
    };
    for (const int columns : {1000, 23}) {
        int mixed = 0;
        for (const TraceColumn& column : first_of(history.curves(0, 100 * kStep, columns))) {
            const bool six = column.low > 5000, three = column.high < 5000;
            EXPECT_EQ(about.comparable(column, made(6)), six);
            EXPECT_EQ(about.comparable(column, made(3)), three);
            mixed += six || three ? 0 : 1;
        }
        EXPECT_LE(mixed, columns == 23 ? 2 : 0);
    }
    EXPECT_GT(history.extremes(0, 99 * kStep, made(6)).at(0)->low, 5000);
    EXPECT_LT(history.extremes(0, 99 * kStep, made(3)).at(0)->high, 5000);
    EXPECT_EQ(about.settings.back().id, history.values_at(40 * kStep)->settings.at(0));
    EXPECT_NE(about.settings.back().id, history.values_at(70 * kStep)->settings.at(0));
    play(0, 100, 6);
    about = history.overview();
    EXPECT_TRUE(about.restarts.empty());
    for (const TraceColumn& column : first_of(history.curves(0, 100 * kStep, 23)))
        EXPECT_TRUE(about.comparable(column, made(6)));
}

/// After any sequence of plays, seeks and edits each frame has the value of the last time that it was made.
TEST_F(FilmHistory, EqualsTheLastValueOfEachFrame) {
    auto random = test::test_random(3101);
    std::map<std::uint64_t, int> last; // radius
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t from = random() % 3000, count = 1 + random() % 200;
        const int radius = 1 + static_cast<int>(random() % 4);
        play(from, from + count, radius);
        for (std::uint64_t p = from; p < from + count; ++p)
            last[p] = radius;
    }
    EXPECT_EQ(history.overview().frames, last.size());
    for (const auto& [position, radius] : last)
        ASSERT_EQ(at(position), value_of(position, radius)) << position;
    for (const int columns : {7, 100, 2500}) {
        std::map<std::int64_t, std::pair<double, double>> wanted;
        const std::int64_t to = 3200 * kStep;
        const double step = static_cast<double>(to) / columns;
        double low = 1e9, high = -1e9;
        for (const auto& [position, radius] : last) {
            low = std::min(low, value_of(position, radius));
            high = std::max(high, value_of(position, radius));
            const auto column =
                static_cast<std::int64_t>(std::floor(static_cast<double>(position) * kStep / step));
            const double v = value_of(position, radius);
            auto [at, is_new] = wanted.emplace(column, std::pair{v, v});
            at->second = {std::min(at->second.first, v), std::max(at->second.second, v)};
        }
        EXPECT_EQ(history.extremes(0, to)[0]->low, low);
        EXPECT_EQ(history.extremes(0, to)[0]->high, high);
        if (columns == 2500)
            continue; // single samples
        const auto curve = history.curves(0, to, columns).at(0);
        double seen_low = 1e9, seen_high = -1e9;
        for (const TraceColumn& column : curve) {
            const auto index =
                static_cast<std::int64_t>(std::floor(static_cast<double>(column.time_ns) / step));
            if (!wanted.contains(index))
                continue; // outside the plot
            EXPECT_NEAR(column.low, wanted[index].first, 1e-9) << index << " of " << columns;
            EXPECT_NEAR(column.high, wanted[index].second, 1e-9) << index << " of " << columns;
            seen_low = std::min(seen_low, column.low);
            seen_high = std::max(seen_high, column.high);
        }
        EXPECT_EQ(seen_low, low);
        EXPECT_EQ(seen_high, high);
    }
}

/// The first values after a cold seek rest on too few frames and do not replace values of a run.
TEST_F(FilmHistory, ACompleteValueIsNotReplacedByOneOfAWarmUp) {
    const auto warm = [&](std::uint64_t position, double value, int frames, int radius = 3) {
        Result made = frame(position, value, radius);
        made.warmup = {"speckle", frames, 10};
        history.push(made);
    };
    for (int i = 0; i < 5; ++i)
        warm(static_cast<std::uint64_t>(i), 10 + i, i + 1);
    play(5, 20);
    warm(10, 1, 1);
    warm(3, 1, 1);
    EXPECT_EQ(at(10), value_of(10, 3));
    EXPECT_EQ(at(3), 13);
    EXPECT_EQ(history.overview().regions.at(0).newest, 1) << "as on the image";
    warm(3, 2, 4);
    EXPECT_EQ(at(3), 2) << "as far as the one before";
    warm(10, 7, 1, 6);
    EXPECT_EQ(at(10), 7) << "other settings";
    // The range of a plot leaves warm-ups out.
    EXPECT_GT(history.extremes(0, 99 * kStep).at(0)->low, 100);
}

TEST_F(FilmHistory, APausedFrameIsWrittenAtItsPlace) {
    play(0, 50);
    Result again = frame(49, 7, 6);
    again.repeated = true;
    history.push(again);
    EXPECT_EQ(at(49), 7);
    EXPECT_EQ(history.overview().regions.at(0).newest, 7);
    EXPECT_EQ(history.overview().frames, 50U);
    EXPECT_TRUE(history.overview().restarts.empty()) << "one frame is no stretch of other settings";
    EXPECT_TRUE(history.curves(0, 50 * kStep, 1000).at(0).back().broken);
}

TEST_F(FilmHistory, TheBackgroundFillsValuesAndLeavesTheDisplay) {
    play(0, 10);
    for (std::uint64_t i = 0; i < 200; ++i)
        history.push_background(frame(i, value_of(i, 3)));
    const TraceOverview about = history.overview();
    EXPECT_EQ(about.frames, 200U);
    EXPECT_EQ(about.newest->position, 9U);
    EXPECT_EQ(about.regions.at(0).newest, value_of(9, 3));
    EXPECT_TRUE(about.restarts.empty());
    EXPECT_EQ(at(199), value_of(199, 3));
    Result other = frame(5, 1);
    other.quantity.name = "another";
    history.push_background(other);
    EXPECT_EQ(at(5), value_of(5, 3));
}

/// After an edit, a displayed frame with a long history may be later than frames of the background.
TEST_F(FilmHistory, TheBackgroundMayBeAheadOfTheDisplay) {
    play(0, 10);
    const auto flow = [&](std::uint64_t position) {
        Result made = frame(position, value_of(position, 4), 4);
        made.quantity.name = "flow";
        return made;
    };
    for (std::uint64_t i = 0; i < 30; ++i)
        history.push_background(flow(i));
    EXPECT_EQ(at(9), value_of(9, 3)) << "the display is of the settings before";
    EXPECT_EQ(history.overview().frames, 10U);
    history.push(flow(9));
    EXPECT_EQ(history.overview().frames, 30U);
    EXPECT_EQ(history.overview().newest->position, 9U);
    for (const std::uint64_t i : {0, 9, 29})
        EXPECT_EQ(at(i), value_of(i, 4));
}

TEST_F(FilmHistory, AMovedRegionIsNotComparedWithWhereItWas) {
    play(0, 50);
    auto moved = std::make_shared<PlacedRegions>(*regions);
    moved->spans[1].x = 30;
    regions = moved;
    play(20, 30);
    const TraceOverview about = history.overview();
    EXPECT_EQ(about.restarts.size(), 2U);
    const auto curves = history.curves(0, 50 * kStep, 1000);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_TRUE(about.comparable(curves[0][i], std::nullopt)) << i;
        EXPECT_EQ(about.comparable(curves[1][i], std::nullopt), i >= 20 && i < 30) << i;
        EXPECT_EQ(curves[1][i].broken, i == 0 || i == 20 || i == 30) << i;
    }
}

TEST_F(FilmHistory, AnotherFilmBeginsAnotherAxis) {
    play(0, 50);
    const std::uint64_t axis = history.overview().axis;
    open("film.tif"); // the same again
    play(0, 20);
    EXPECT_EQ(history.overview().axis, axis);
    EXPECT_EQ(history.overview().frames, 50U);
    open("other.tif");
    play(0, 5);
    EXPECT_NE(history.overview().axis, axis);
    EXPECT_EQ(history.overview().frames, 5U);
    EXPECT_EQ(history.overview().last_ns, 4 * kStep);
    open("camera");
    history.push(result(0, 0, regions, {1, 2}, true));
    EXPECT_FALSE(history.overview().film);
    EXPECT_EQ(history.overview().frames, 1U);
}

TEST_F(FilmHistory, TimesFollowTheRateThatTheUserGives) {
    for (std::uint64_t i = 0; i < 10; ++i) {
        Result made = frame(i, value_of(i, 3));
        made.info.time_origin = TimeOrigin::none;
        made.info.film_ns = static_cast<std::int64_t>(i) * 1000 * kMs;
        history.push(made);
    }
    EXPECT_EQ(history.overview().last_ns, 9000 * kMs);
    Result made = frame(10, value_of(10, 3));
    made.info.time_origin = TimeOrigin::parameter;
    history.push(made);
    EXPECT_EQ(history.overview().last_ns, 10 * kStep);
    for (std::uint64_t i = 0; i <= 10; ++i)
        EXPECT_EQ(at(i), value_of(i, 3)) << i;
}

TEST_F(FilmHistory, MeansEndAtTheFrameThatIsShown) {
    play(0, 200);
    play(90, 100);
    const auto means = history.means(1); // 20 frames
    ASSERT_TRUE(means);
    EXPECT_EQ(means->from.position, 80U);
    EXPECT_EQ(means->to.position, 99U);
    EXPECT_EQ(means->frames, 20U);
    double sum = 0;
    for (std::uint64_t i = 80; i < 100; ++i)
        sum += value_of(i, 3);
    EXPECT_NEAR(means->regions.at(0).mean, sum / 20, 1e-9);
    play(100, 105, 6);
    EXPECT_EQ(history.means(1)->frames, 5U) << "of one setting";
}

TEST(FilmTraces, MemoryStaysWithinItsBudgetAndKeepsExtremes) {
    constexpr std::size_t kBudget = std::size_t{1} << 20;
    TraceHistory history(kBudget);
    const auto regions = placed({"a"});
    constexpr std::uint64_t kFrames = 300'000;
    const auto value = [](std::uint64_t i) { return static_cast<double>(i * 7919 % 100'003); };
    double low = 1e9, high = -1e9;
    for (int round = 0; round < 2; ++round)
        for (std::uint64_t i = 0; i < kFrames; ++i) {
            Result made = result(i, 0, regions, {value(i)});
            made.info.position = i;
            made.info.film_ns = static_cast<std::int64_t>(i) * kMs;
            history.push(made);
            low = std::min(low, value(i));
            high = std::max(high, value(i));
        }
    const TraceOverview about = history.overview();
    EXPECT_LE(about.bytes, kBudget);
    EXPECT_EQ(about.first_ns, 0);
    EXPECT_NEAR(static_cast<double>(about.last_ns), 3e11, 1e8);
    EXPECT_EQ(history.extremes(0, about.last_ns)[0]->low, low);
    EXPECT_EQ(history.extremes(0, about.last_ns)[0]->high, high);
    for (const TraceColumn& column : first_of(history.curves(0, about.last_ns, 100)))
        EXPECT_GT(column.high, column.low);
    Result far = result(0, 0, regions, {5}); // as in a simulated scene without an end
    far.info.position = 1'000'000'000'000;
    far.info.film_ns = 1'000'000'000'000 * kMs;
    history.push(far);
    EXPECT_LE(history.overview().bytes, kBudget);
    EXPECT_EQ(history.overview().regions.at(0).newest, 5);
}

} // namespace specklescope::film_traces_test
