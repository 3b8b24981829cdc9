// The schedule of a paced source, on a simulated clock.
#include "sources/pacer.hpp"

#include <gtest/gtest.h>

namespace specklescope::pacer_test {

using namespace std::chrono_literals;

class PacerTest : public testing::Test {
protected:
    static constexpr double kRate = 10; ///< frames/s
    SteadyClock::duration rest(double rate = kRate) { return pacer_.until_due(rate, now_); }
    void expect_due_after(SteadyClock::duration wanted) {
        EXPECT_EQ(rest(), wanted);
        now_ += wanted;
        EXPECT_LE(rest(), 0ns);
        pacer_.take(kRate);
    }
    Pacer pacer_;
    SteadyClock::time_point now_ = SteadyClock::time_point(1h);
};

TEST_F(PacerTest, FrameNIsDueNPeriodsAfterTheFirst) {
    expect_due_after(0ms);
    for (int i = 0; i < 5; ++i)
        expect_due_after(100ms);
    now_ += 30ms; // a slow frame does not shift the schedule
    expect_due_after(70ms);
    expect_due_after(100ms);
}

TEST_F(PacerTest, CatchesUpAfterAShortStallOnly) {
    expect_due_after(0ms);
    now_ += 400ms; // 300 ms late: the due frames come at once
    for (int i = 0; i < 4; ++i) {
        EXPECT_LE(rest(), 0ns) << i;
        pacer_.take(kRate);
    }
    EXPECT_EQ(rest(), 100ms);
    now_ += 1700ms; // 1.6 s late: one frame comes, and the schedule continues from here
    EXPECT_LE(rest(), 0ns);
    pacer_.take(kRate);
    expect_due_after(100ms);
    expect_due_after(100ms);
}

TEST_F(PacerTest, ARaisedRateAppliesFromTheNextFrame) {
    EXPECT_LE(rest(0.1), 0ns);
    pacer_.take(0.1); // the next one in 10 s
    EXPECT_EQ(rest(0.1), 10s);
    EXPECT_EQ(rest(), 100ms);
    now_ += 100ms;
    EXPECT_LE(rest(), 0ns);
}

/// Also after 73 years: three frames of the slowest rate are 95.
TEST_F(PacerTest, ARaisedRateAppliesInALongSchedule) {
    constexpr double kSlowest = 1e-9;
    for (const int slow : {0, 1, 2, 3, 10, 1000}) {
        SCOPED_TRACE(slow);
        pacer_.restart();
        pacer_.skip_pacing(static_cast<std::uint64_t>(slow));
        std::int64_t last = -1;
        for (int i = 0; i <= slow; ++i) {
            EXPECT_LE(rest(kSlowest), 0ns);
            const std::int64_t time = pacer_.take(kSlowest);
            EXPECT_GT(time, last);
            last = time;
        }
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(rest(), 100ms) << "frame " << i;
            now_ += 30ms;
            EXPECT_EQ(rest(), 70ms) << "frame " << i;
            now_ += 70ms;
            const std::int64_t time = pacer_.take(kRate);
            EXPECT_GT(time, last);
            EXPECT_TRUE(i == 0 || std::abs(time - last - 100'000'000) <= 1024) << "rounded as a double is";
            last = time;
        }
    }
}

TEST_F(PacerTest, TimesFollowTheSchedule) {
    for (std::int64_t i = 0; i < 100; ++i)
        EXPECT_EQ(pacer_.take(kRate), i * 100'000'000);
    pacer_.restart();
    EXPECT_EQ(pacer_.take(kRate), 0);
}

TEST_F(PacerTest, WithoutARateFramesAreAlwaysDueAndTimesIncrease) {
    std::int64_t last = -1;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_LE(rest(0), 0ns);
        EXPECT_TRUE(pacer_.wait(0));
        const std::int64_t time = pacer_.take(0);
        EXPECT_GT(time, last);
        last = time;
    }
}

TEST_F(PacerTest, UnpacedFramesStayUnpacedAfterARestart) { // a video that is read from its beginning
    expect_due_after(0ms);
    pacer_.skip_pacing(3);
    pacer_.restart();
    for (int i = 0; i < 4; ++i) {
        EXPECT_LE(rest(), 0ns) << i;
        pacer_.take(kRate);
    }
    EXPECT_GT(rest(), 0ns);
}

TEST(PacerWait, IsLimitedByItsTimeout) {
    Pacer pacer;
    EXPECT_TRUE(pacer.wait(0.001));
    pacer.take(0.001); // the next one in 1000 s
    EXPECT_FALSE(pacer.wait(0.001, std::chrono::milliseconds(1)));
}

TEST(PacerWait, WaitsForAFrameThatIsDueSoon) {
    Pacer pacer;
    EXPECT_TRUE(pacer.wait(200));
    const auto begin = SteadyClock::now();
    pacer.take(200); // the next one in 5 ms
    EXPECT_TRUE(pacer.wait(200, std::chrono::seconds(10)));
    EXPECT_GE(SteadyClock::now() - begin, 0ms);
}

} // namespace specklescope::pacer_test
