// The clock of playback: over gaps, seeks, rounds and files; and the frame at a time.
#include "sources/playback_clock.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

namespace specklescope::playback_clock_test {

constexpr std::int64_t kStep = 100'000'000;

class PlaybackClockTest : public testing::Test {
protected:
    /// Frame i of a file of 10 frames/s, recorded long ago.
    std::int64_t play(std::uint64_t frame) {
        Recorded recorded;
        recorded.capture_ns = kBegan + static_cast<std::int64_t>(frame) * kStep;
        recorded.sequence = frame;
        recorded.rate = rate_;
        FrameInfo info;
        clock_.stamp(info, recorded, port_, pacer_, 0, 0);
        return info.capture_ns;
    }
    std::int64_t seek(std::uint64_t frame) {
        clock_.jump();
        return play(frame);
    }
    static constexpr std::int64_t kBegan = 1'760'000'000'000'456'789;
    double rate_ = 0;
    PlaybackClock clock_;
    Pacer pacer_;
    test::TestPort port_;
};

TEST_F(PlaybackClockTest, ScrubbingAddsOnlyShownFrames) {
    for (const double rate : {0.0, 10.0}) {
        SCOPED_TRACE(rate);
        rate_ = rate;
        clock_.restart();
        EXPECT_EQ(play(0), kBegan);
        EXPECT_EQ(play(1), kBegan + kStep);
        EXPECT_EQ(seek(2900), kBegan + 2900 * kStep);
        EXPECT_EQ(seek(5), kBegan + 2901 * kStep) << "a step behind the last, and not the jump once more";
        EXPECT_EQ(play(6), kBegan + 2902 * kStep);
        EXPECT_EQ(seek(2), kBegan + 2903 * kStep);
        EXPECT_EQ(port_.lost_frames, 0U);
    }
}

TEST_F(PlaybackClockTest, AGapIsNoStep) {
    play(0);
    play(1);
    EXPECT_EQ(play(500), kBegan + 500 * kStep);
    EXPECT_EQ(port_.lost_frames, 498U);
    EXPECT_EQ(seek(3), kBegan + 501 * kStep);
}

TEST(PlaybackTimes, OneWrongTimeDoesNotAffectOthers) {
    PlaybackTimes times;
    for (std::int64_t i = 0; i < 100; ++i) {
        const bool wrong = i == 40 || i == 70; // 5 s early; the previous one again
        const std::int64_t recorded = i == 40 ? -1'000'000'000 : (i == 70 ? 69 : i) * kStep;
        const std::int64_t time = times.next(recorded, i > 0);
        EXPECT_NEAR(static_cast<double>(time), static_cast<double>(i * kStep), 1) << i;
        EXPECT_EQ(times.doubtful(), wrong) << i;
    }
}

TEST(PlaybackTimes, AClockThatIsSetBackContinues) {
    PlaybackTimes times;
    for (std::int64_t i = 0; i < 100; ++i)
        EXPECT_EQ(times.next((i < 50 ? i : i - 45) * kStep, i > 0), i * kStep) << i;
}

TEST(TimeSearch, FindsTheFrameAtATime) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> times = {static_cast<std::int64_t>(random()) * 1'000'000'000};
        for (std::size_t i = 1, count = 2 + random() % 40; i < count; ++i)
            times.push_back(times.back() + 1 + static_cast<std::int64_t>(random() % 300) * 1'000'000);
        const double seconds = static_cast<double>(random() % 8000) * 1e-3;
        TimeSearch search(seconds);
        for (std::size_t i = 0; i < times.size() && search.add(times[i]);)
            ++i;
        const double length =
            static_cast<double>(times.back() + times.back() - times[times.size() - 2] - times[0]);
        std::uint64_t wanted = 0;
        while (wanted + 1 < times.size() &&
               static_cast<double>(times[wanted + 1] - times[0]) <= seconds * 1e9 + 1000)
            ++wanted;
        if (seconds * 1e9 + 1000 >= length)
            wanted = times.size();
        ASSERT_EQ(search.frame(), wanted) << seconds << " s of " << length * 1e-9;
    }
    TimeSearch none(1);
    EXPECT_FALSE(none.frame());
    EXPECT_TRUE(none.add(5));
    EXPECT_FALSE(none.add(std::nullopt));
    EXPECT_FALSE(none.frame()) << "one of them has no time";
}

} // namespace specklescope::playback_clock_test
