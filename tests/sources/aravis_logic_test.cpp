// Counting a camera's frames by its own numbers, and software triggers by their answers.
#include "sources/aravis/frame_numbers.hpp"
#include "sources/aravis/trigger_series.hpp"

#include <gtest/gtest.h>

using namespace specklescope;
using namespace std::chrono_literals;

TEST(FrameNumbers, CountsWhatIsLeftOut) {
    FrameNumbers numbers;
    numbers.restart(false);
    EXPECT_EQ(numbers.missing_before(17), 0U) << "the first follows nothing";
    EXPECT_EQ(numbers.missing_before(18), 0U);
    EXPECT_EQ(numbers.missing_before(22), 3U);
}

TEST(FrameNumbers, GoesOnAtOneBehindSixteenBits) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(65534);
    EXPECT_EQ(numbers.missing_before(65535), 0U);
    EXPECT_EQ(numbers.missing_before(1), 0U) << "0 is no number in GVSP 1.x";
    numbers.restart(false);
    numbers.missing_before(65535);
    EXPECT_EQ(numbers.missing_before(0), 0U) << "and some cameras send it";
    EXPECT_EQ(numbers.missing_before(1), 0U);
    numbers.restart(false);
    numbers.missing_before(65530);
    EXPECT_EQ(numbers.missing_before(4), 8U) << "65531 to 65535, 1 to 3";
}

TEST(FrameNumbers, DoesNotWrapInSixtyFourBits) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(65535);
    EXPECT_EQ(numbers.missing_before(65536), 0U);
    EXPECT_EQ(numbers.missing_before(65540), 3U);
    EXPECT_EQ(numbers.missing_before(3), 0U) << "it began anew";
    numbers.restart(true);
    numbers.missing_before(65535);
    EXPECT_EQ(numbers.missing_before(1), 0U);
    EXPECT_EQ(numbers.missing_before((std::uint64_t{1} << 40) + 1), (std::uint64_t{1} << 40) - 1);
}

TEST(FrameNumbers, LosesNothingWhereTheCountGoesBack) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(40000);
    EXPECT_EQ(numbers.missing_before(39999), 0U) << "late";
    EXPECT_EQ(numbers.missing_before(39999), 0U) << "twice";
    EXPECT_EQ(numbers.missing_before(40001), 1U);
}

TEST(TriggerSeries, KeepsItsPaceAndItsNumber) {
    TriggerSeries series(100, 5);
    auto now = SteadyClock::time_point(1s);
    EXPECT_FALSE(series.due(now)) << "not started";
    series.start(now);
    int sent = 0;
    for (int ms = 0; ms < 200; ++ms, now += 1ms)
        if (series.due(now)) {
            EXPECT_EQ(ms % 10, 0);
            series.sent(now);
            ++sent;
        }
    EXPECT_EQ(sent, 5);
    EXPECT_FALSE(series.finished()) << "none is answered";
    series.answered(4);
    EXPECT_FALSE(series.finished());
    EXPECT_EQ(series.give_up(now, 10s), 0U);
    EXPECT_EQ(series.give_up(now + 11s, 10s), 1U);
    EXPECT_TRUE(series.finished());
}

TEST(TriggerSeries, MakesUpForAHiccupAndNotForAPause) {
    TriggerSeries series(100, 0);
    auto now = SteadyClock::time_point(1s);
    series.start(now);
    series.sent(now);
    now += 35ms;
    int sent = 0;
    for (; series.due(now); ++sent)
        series.sent(now);
    EXPECT_EQ(sent, 3) << "those of 10, 20 and 30 ms";
    now += 10s;
    for (sent = 0; series.due(now); ++sent)
        series.sent(now);
    EXPECT_EQ(sent, 1);
}

TEST(TriggerSeries, SendsOnRequestWhetherItRunsOrNot) {
    TriggerSeries series(0, 0);
    const auto now = SteadyClock::time_point(1s);
    series.start(now);
    EXPECT_FALSE(series.due(now));
    EXPECT_EQ(series.wait(now, 100ms), 100ms);
    series.request();
    EXPECT_TRUE(series.due(now));
    EXPECT_EQ(series.wait(now, 100ms), 0ms);
    series.sent(now);
    EXPECT_FALSE(series.due(now));
    EXPECT_EQ(series.give_up_all(), 1U);
}
