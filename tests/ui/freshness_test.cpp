// When the newest frame of a live source counts as stale.
#include "session/freshness.hpp"

#include <gtest/gtest.h>

namespace specklescope::freshness_test {

using namespace std::chrono_literals;

class FreshnessTest : public testing::Test {
protected:
    FreshnessTest() { status.source.live = true; }
    Freshness after(std::chrono::milliseconds silence) const {
        return freshness(status, RateMeter::Newest{begin, interval}, since, begin + silence);
    }
    const SteadyClock::time_point begin = SteadyClock::time_point{} + 1h;
    SteadyClock::time_point since = begin;
    std::chrono::nanoseconds interval = 20ms;
    PipelineStatus status{RunState::running, "", {}};
};

TEST_F(FreshnessTest, FollowsTheMeasuredAndTheNominalFrameTime) {
    EXPECT_FALSE(after(499ms).stale);
    EXPECT_TRUE(after(501ms).stale);
    EXPECT_DOUBLE_EQ(after(3200ms).age_s, 3.2);
    interval = 2s; // measured
    EXPECT_FALSE(after(5900ms).stale);
    EXPECT_TRUE(after(6100ms).stale);
    interval = 20ms;
    status.source.rate = 0.25; // nominal
    EXPECT_FALSE(after(11900ms).stale);
    EXPECT_TRUE(after(12100ms).stale);
}

TEST_F(FreshnessTest, OnlyASilentLiveSourceIsStale) {
    status.source.live = false;
    EXPECT_FALSE(after(1h).stale) << "a file";
    status.source.live = true;
    status.source.patient = true;
    EXPECT_FALSE(after(1h).stale) << "it waits for triggers";
    status.source.patient = false;
    status.state = RunState::paused;
    EXPECT_FALSE(after(1h).stale) << "paused by the user";
    status.state = RunState::running;
    since = begin + 1h; // the pause ended
    EXPECT_FALSE(after(1h + 400ms).stale);
    EXPECT_TRUE(after(1h + 600ms).stale);
}

TEST_F(FreshnessTest, ALostSourceIsStaleAtOnce) {
    for (const RunState state : {RunState::reconnecting, RunState::failed}) {
        status.state = state;
        EXPECT_TRUE(after(1ms).stale);
        EXPECT_TRUE(after(1ms).lost);
        EXPECT_TRUE(freshness(status, std::nullopt, since, begin).stale) << "no frame ever came";
    }
    status.state = RunState::running;
    EXPECT_FALSE(freshness(status, std::nullopt, since, begin + 1h).stale);
}

TEST_F(FreshnessTest, OneGapDoesNotChangeTheFrameTime) {
    RateMeter meter;
    EXPECT_FALSE(meter.newest());
    meter.tick(begin);
    ASSERT_TRUE(meter.newest());
    EXPECT_EQ(meter.newest()->interval, 0ns);
    for (int i = 1; i <= 10; ++i)
        meter.tick(begin + i * 30ms);
    EXPECT_EQ(meter.newest()->interval, 30ms);
    meter.tick(begin + 5s);
    EXPECT_EQ(meter.newest()->interval, 30ms);
    EXPECT_EQ(meter.newest()->at, begin + 5s);
}

TEST_F(FreshnessTest, AgesAreShort) {
    EXPECT_EQ(age_text(3.24), "3.2 s");
    EXPECT_EQ(age_text(12.4), "12 s");
    EXPECT_EQ(age_text(65), "1:05");
}

} // namespace specklescope::freshness_test
