// Frame counts from a camera's frame numbers, software triggers and their answers, and camera time.
#include "sources/aravis/camera_time.hpp"
#include "sources/aravis/frame_numbers.hpp"
#include "sources/aravis/trigger_series.hpp"

#include <gtest/gtest.h>

namespace aravis_logic_test {

using namespace specklescope;
using namespace std::chrono_literals;

constexpr std::uint64_t kAny = ~std::uint64_t{0};
constexpr std::int64_t kMs = 1'000'000;

TEST(FrameNumbers, CountsMissingNumbers) {
    FrameNumbers numbers;
    numbers.restart(false);
    EXPECT_EQ(numbers.missing_before(17, kAny), 0U) << "the first follows nothing";
    EXPECT_EQ(numbers.missing_before(18, kAny), 0U);
    EXPECT_EQ(numbers.missing_before(22, kAny), 3U);
}

TEST(FrameNumbers, ContinuesAtOneAfterSixteenBits) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(65534, kAny);
    EXPECT_EQ(numbers.missing_before(65535, kAny), 0U);
    EXPECT_EQ(numbers.missing_before(1, kAny), 0U) << "0 is no number in GVSP 1.x";
    numbers.restart(false);
    numbers.missing_before(65535, kAny);
    EXPECT_EQ(numbers.missing_before(0, kAny), 0U) << "and some cameras send it";
    EXPECT_EQ(numbers.missing_before(1, kAny), 0U);
    numbers.restart(false);
    numbers.missing_before(65530, kAny);
    EXPECT_EQ(numbers.missing_before(4, kAny), 8U) << "65531 to 65535, 1 to 3";
}

TEST(FrameNumbers, DoesNotWrapInSixtyFourBits) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(65535, kAny);
    EXPECT_EQ(numbers.missing_before(65536, kAny), 0U);
    EXPECT_EQ(numbers.missing_before(65540, kAny), 3U);
    EXPECT_EQ(numbers.missing_before(3, kAny), 0U) << "it began anew";
    numbers.restart(true);
    numbers.missing_before(65535, kAny);
    EXPECT_EQ(numbers.missing_before(1, kAny), 0U);
    EXPECT_EQ(numbers.missing_before(2, kAny), 0U);
    EXPECT_EQ(numbers.missing_before((std::uint64_t{1} << 40) + 2, kAny), (std::uint64_t{1} << 40) - 1);
}

TEST(FrameNumbers, CountsNothingIfTheNumberGoesBack) {
    FrameNumbers numbers;
    numbers.restart(false);
    numbers.missing_before(40000, kAny);
    EXPECT_EQ(numbers.missing_before(39999, kAny), 0U) << "late";
    EXPECT_EQ(numbers.missing_before(39999, kAny), 0U) << "twice";
    EXPECT_EQ(numbers.missing_before(40001, kAny), 1U);
}

TEST(FrameNumbers, IgnoresGapsLargerThanTheElapsedTimeAllows) {
    for (const bool wide : {false, true}) {
        FrameNumbers numbers;
        numbers.restart(wide);
        numbers.missing_before(40000, 18);
        EXPECT_EQ(numbers.missing_before(40001, 18), 0U);
        EXPECT_EQ(numbers.missing_before(1, 18), 0U) << "the count began anew";
        EXPECT_EQ(numbers.missing_before(2, 18), 0U);
        EXPECT_EQ(numbers.missing_before(5, 18), 2U);
        EXPECT_EQ(numbers.missing_before(30005, 18), 0U);
        EXPECT_EQ(numbers.missing_before(30007, 18), 1U);
        EXPECT_EQ(numbers.missing_before(60008, 30000), 30000U) << "where there was the time for them";
    }
}

TEST(FrameNumbers, ADamagedNumberChangesNothing) {
    for (const std::uint64_t damage :
         {std::uint64_t{1} << 63, std::uint64_t{1} << 40, std::uint64_t{20000}}) {
        FrameNumbers numbers;
        numbers.restart(damage > 65535);
        numbers.missing_before(100, 18);
        EXPECT_EQ(numbers.missing_before(101 ^ damage, 18), 0U);
        EXPECT_EQ(numbers.missing_before(102, 18), 0U);
        EXPECT_EQ(numbers.missing_before(104, 18), 1U);
        EXPECT_EQ(numbers.missing_before(105 ^ damage, 18), 0U);
        EXPECT_EQ(numbers.missing_before(108, 18), 2U) << "two behind the damaged one";
    }
}

TEST(FramePace, FollowsTheCamerasStampsOrTheHostsTime) {
    FramePace pace;
    pace.restart(50);
    std::int64_t stamp = 1000 * kMs, here = 777 * kMs;
    pace.most_between(stamp, here);
    std::uint64_t most = pace.most_between(stamp += 20 * kMs, here += 20 * kMs);
    EXPECT_GE(most, 1U);
    EXPECT_LT(most, 30U);
    most = pace.most_between(stamp += 2000 * kMs, here += 1 * kMs); // both were delayed in the host
    EXPECT_GE(most, 100U);
    EXPECT_LT(most, 300U);
    most = pace.most_between(stamp -= 60'000 * kMs, here += 2000 * kMs); // its clock restarted
    EXPECT_GE(most, 100U);
    EXPECT_LT(most, 300U);
    pace.restart(50); // a camera without time stamps
    pace.most_between(std::nullopt, here);
    most = pace.most_between(std::nullopt, here += 1 * kMs);
    EXPECT_GE(most, 100U) << "what waited here during a hiccup comes all at once";
    EXPECT_LT(most, 25'000U);
}

TEST(FramePace, LearnsFromACameraFasterThanStated) {
    for (const double says : {0.0, 10.0}) {
        FramePace pace;
        pace.restart(says);
        std::int64_t now = 0;
        pace.most_between(now, now);
        for (int i = 0; i < 3; ++i) {
            now += 2 * kMs;
            pace.most_between(now, now);
            pace.made(1);
        }
        now += 1000 * kMs;
        const std::uint64_t most = pace.most_between(now, now);
        EXPECT_GE(most, 500U);
        EXPECT_LT(most, 1100U);
    }
}

TEST(Parts, TheRestIsReportedWithTheNextPart) {
    Parts parts;
    EXPECT_EQ(parts.take(0, 5), 0U);
    EXPECT_EQ(parts.take(7, 3), 3U);
    EXPECT_EQ(parts.take(7, 3), 3U);
    EXPECT_EQ(parts.take(7, 3), 1U);
    EXPECT_EQ(parts.take(9, 5), 2U);
    EXPECT_EQ(parts.take(9, 5), 0U);
}

/// Frames of 20 ms that arrive with the camera's clock, from the first on; `at` changes them.
struct TimedCamera {
    CameraTime time;
    std::int64_t stamp = 5'000'000 * kMs, here = 40 * kMs;
    CameraTime::Moment next(std::int64_t ms = 20) {
        stamp += ms * kMs;
        here += ms * kMs;
        return time.at(stamp, here);
    }
};

TEST(CameraTime, ContinuesWhenTheClockIsSet) {
    for (const std::int64_t by_ms : {-60'000, -25, 1'000, 3'600'000}) {
        SCOPED_TRACE(by_ms);
        TimedCamera camera;
        const std::int64_t first = camera.next().ns;
        EXPECT_EQ(first, camera.stamp) << "the camera's own";
        for (int i = 1; i < 300; ++i) {
            if (i == 100)
                camera.stamp += by_ms * kMs;
            const CameraTime::Moment moment = camera.next();
            EXPECT_EQ(moment.ns, first + i * 20 * kMs) << i;
            EXPECT_EQ(moment.set, i == 100) << i;
        }
    }
}

TEST(CameraTime, IgnoresLateFrames) {
    TimedCamera camera;
    const std::int64_t first = camera.next().ns;
    std::int64_t stamp = camera.stamp, here = camera.here;
    for (int i = 1; i < 200; ++i) { // at 20 ms; 50 of them are delayed by a second
        stamp += 20 * kMs;
        const std::int64_t arrived = here + i * 20 * kMs;
        const std::int64_t taken = i >= 50 && i < 100 ? std::max(arrived, here + 100 * 20 * kMs) : arrived;
        const CameraTime::Moment moment = camera.time.at(stamp, taken);
        EXPECT_FALSE(moment.set) << i;
        EXPECT_EQ(moment.ns, first + i * 20 * kMs);
    }
}

TEST(CameraTime, ACoarseClockIsNotTakenAsSet) {
    CameraTime time;
    std::int64_t last = 0;
    for (int i = 1; i < 500; ++i) {
        const std::int64_t now = i * 20 * kMs;
        const CameraTime::Moment moment = time.at(now / (40 * kMs) * 40 * kMs + kMs, now);
        EXPECT_FALSE(moment.set) << i;
        EXPECT_GE(moment.ns, last);
        last = moment.ns;
    }
}

TEST(CameraTime, AFrameWithoutAStampLiesBetweenItsNeighbours) {
    TimedCamera camera;
    std::int64_t last = camera.next().ns;
    for (int i = 1; i < 20; ++i) {
        const bool unstamped = i % 5 == 0;
        camera.stamp += 20 * kMs;
        camera.here += 20 * kMs;
        const CameraTime::Moment moment = camera.time.at(
            unstamped ? std::nullopt : std::optional(camera.stamp), camera.here + (i % 3) * kMs);
        EXPECT_FALSE(moment.set);
        EXPECT_GT(moment.ns, last);
        EXPECT_NEAR(static_cast<double>(moment.ns), static_cast<double>(camera.stamp), 3.0 * kMs);
        last = moment.ns;
    }
    CameraTime ours; // a camera without a clock
    EXPECT_EQ(ours.at(std::nullopt, 70 * kMs).ns, 70 * kMs);
    EXPECT_EQ(ours.at(std::nullopt, 95 * kMs).ns, 95 * kMs);
}

TEST(CameraTime, ContinuesOverAReconnection) {
    TimedCamera camera;
    camera.next();
    const std::int64_t last = camera.next().ns;
    camera.time.reopened();
    camera.stamp = 3 * kMs; // it was switched off
    CameraTime::Moment moment = camera.next(7000);
    EXPECT_EQ(moment.ns, last + 7000 * kMs);
    EXPECT_FALSE(moment.set);
    moment = camera.next();
    EXPECT_EQ(moment.ns, last + 7020 * kMs);
    camera.time.reopened(); // it was not, and its clock continued
    moment = camera.next(7000);
    EXPECT_EQ(moment.ns, last + 14'020 * kMs);
    camera.stamp -= 500 * kMs;
    EXPECT_TRUE(camera.next().set) << "while it runs";
}

TEST(TriggerSeries, ALateAnswerIsCountedOnce) {
    TriggerSeries series(0, 0);
    const auto now = SteadyClock::time_point(1s);
    const auto send = [&](SteadyClock::time_point at) {
        series.request();
        series.sent(at);
    };
    send(now);
    EXPECT_EQ(series.expire(now + 3s, 2s), 1U);
    EXPECT_EQ(series.answered(1), 1U) << "it has been counted";
    EXPECT_EQ(series.answered(1), 0U) << "and a frame that nobody asked for has not";
    send(now + 3s);
    EXPECT_EQ(series.answered(1), 0U);
    send(now + 4s);
    EXPECT_EQ(series.expire(now + 7s, 2s), 1U);
    send(now + 7s);
    EXPECT_EQ(series.answered(2), 1U) << "of two frames the first answers the one that was given up";
    send(now + 8s);
    EXPECT_EQ(series.expire(now + 11s, 2s), 1U);
    EXPECT_EQ(series.abort_all(), 0U);
    EXPECT_EQ(series.answered(1), 0U) << "another camera answers none of those";
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
    EXPECT_EQ(series.expire(now, 10s), 0U);
    EXPECT_EQ(series.expire(now + 11s, 10s), 1U);
    EXPECT_TRUE(series.finished());
}

TEST(TriggerSeries, CatchesUpAfterAShortDelayOnly) {
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

TEST(TriggerSeries, SendsOnRequestAtAnyTime) {
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
    EXPECT_EQ(series.abort_all(), 1U);
}

} // namespace aravis_logic_test
