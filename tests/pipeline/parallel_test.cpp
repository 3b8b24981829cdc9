// Parallel bands: each runs once, no slot is used twice at a time, exceptions are rethrown. Functions in the
// background: each runs once, before their threads are destroyed.
#include "base/background_threads.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace specklescope::test::parallel_test {

TEST(Parallel, EveryBandOnceAndSlotsAreExclusive) {
    std::vector<std::atomic<int>> done(97);
    std::vector<std::atomic<int>> busy(4);
    run_bands(97, 4, [&](int band, int slot) {
        EXPECT_EQ(busy[static_cast<std::size_t>(slot)].fetch_add(1), 0);
        done[static_cast<std::size_t>(band)].fetch_add(1);
        busy[static_cast<std::size_t>(slot)].fetch_sub(1);
    });
    for (const std::atomic<int>& count : done)
        EXPECT_EQ(count.load(), 1);
}

TEST(Parallel, BandsCoverTheRowsInOrder) {
    for (const int rows : {1, 7, 480, 65536})
        for (const int bands : {1, 2, 7}) {
            int next = 0;
            for (int i = 0; i < bands; ++i) {
                const Band band = band_rows(rows, bands, i);
                EXPECT_EQ(band.begin, next);
                next = band.end;
            }
            EXPECT_EQ(next, rows);
        }
}

TEST(Parallel, AnExceptionIsRethrown) {
    EXPECT_THROW(run_bands(8, 2,
                           [](int band, int) {
                               if (band == 5)
                                   throw RunError("band 5");
                           }),
                 RunError);
}

TEST(Parallel, LimitsNest) {
    const ThreadLimit outer(1);
    EXPECT_EQ(parallel_threads(), 1);
    {
        const ThreadLimit none(0);
        EXPECT_GE(parallel_threads(), 1);
    }
    EXPECT_EQ(parallel_threads(), 1);
}

TEST(BackgroundThreads, EveryFunctionOnceAlsoThoseStartedByOthers) {
    std::atomic<int> first{0}, second{0}, bands{0};
    {
        BackgroundThreads threads(4);
        for (int i = 0; i < 50; ++i)
            threads.start([&] {
                ++first;
                threads.start([&] { ++second; });
                run_bands(3, 2, [&](int, int) { ++bands; });
            });
        threads.run([&] { run_bands(5, 4, [&](int, int) { ++bands; }); });
    }
    EXPECT_EQ(first, 50);
    EXPECT_EQ(second, 50);
    EXPECT_EQ(bands, 155);
}

} // namespace specklescope::test::parallel_test
