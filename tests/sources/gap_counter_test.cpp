// Frames that a camera lost are counted from the times of those that came.
#include "sources/aravis/gap_counter.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace specklescope;

TEST(GapCounter, CountsWhatAnEvenCameraLeftOut) {
    GapCounter counter;
    std::int64_t now = 5'000;
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(counter.missing_before(now += 10'000'000 + (i % 3 - 1) * 50'000), 0u) << i;
    EXPECT_EQ(counter.missing_before(now += 20'000'000), 1u);
    EXPECT_EQ(counter.missing_before(now += 10'000'000), 0u);
    EXPECT_EQ(counter.missing_before(now += 70'100'000), 6u);
}

TEST(GapCounter, RoundsToWholePeriods) {
    const auto missing_after = [](std::int64_t step) {
        GapCounter counter;
        std::int64_t now = 0;
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(counter.missing_before(now += 10'000'000), 0u);
        return counter.missing_before(now += step);
    };
    EXPECT_EQ(missing_after(14'900'000), 0u);
    EXPECT_EQ(missing_after(15'100'000), 1u); // 1.51 periods: one is missing, and this one came early
    EXPECT_EQ(missing_after(19'000'000), 1u);
    EXPECT_EQ(missing_after(24'900'000), 1u);
    EXPECT_EQ(missing_after(25'100'000), 2u);
    EXPECT_EQ(missing_after(59'990'000'000), 5998u);
    EXPECT_EQ(missing_after(60'010'000'000), 0u) << "a pause, not a loss";
}

TEST(GapCounter, CountsNothingForATriggeredCamera) {
    GapCounter counter;
    std::mt19937 random(7);
    std::int64_t now = 0;
    for (int i = 0; i < 300; ++i)
        EXPECT_EQ(
            counter.missing_before(now += 1'000'000 + static_cast<std::int64_t>(random() % 100'000'000)), 0u);
}
