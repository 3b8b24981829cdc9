// Requests of a file or an option are compared with the machine's memory before any allocation.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "tests/support/pretend_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace specklescope::memory_budget_test {

TEST(MemoryBudget, ReadsTheSystemsMemory) {
    EXPECT_EQ(available_in("MemTotal: 9 kB\nMemAvailable:     1234 kB\nSwapFree: 3 kB\n"), 1234U * 1024);
    EXPECT_EQ(available_in("MemTotal: 9 kB\n"), std::nullopt);
    EXPECT_EQ(available_in("MemAvailable: many kB\n"), std::nullopt);
    EXPECT_GT(available_memory(), 1U << 20);
}

TEST(MemoryBudget, RefusesMoreThanThreeQuarters) {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
    {
        const test::PretendMemory some(4 * kGiB);
        EXPECT_NO_THROW(check_memory(3 * kGiB, "it", "do less"));
        try {
            check_memory(3 * kGiB + 1, "'a.npy'", "do less");
            ADD_FAILURE();
        } catch (const RunError& error) {
            EXPECT_STREQ(error.what(),
                         "'a.npy' would take 3073 MiB of memory, and 4096 MiB are available; do less.");
        }
    }
    const test::PretendMemory none(0);
    EXPECT_NO_THROW(check_memory(1 << 20, "a little", "do less"));
}

TEST(LongWork, StopsWhenItsWatchCancels) {
    EXPECT_NO_THROW(work_goes_on("nobody watches"));
    int calls = 0;
    const WatchWork watch([&](std::string_view what, double part) {
        EXPECT_EQ(what, "counting");
        EXPECT_EQ(part, calls / 10.0);
        return ++calls < 5;
    });
    try {
        for (int i = 0; i < 10; ++i)
            work_goes_on("counting", i / 10.0);
        ADD_FAILURE();
    } catch (const Cancelled& error) {
        EXPECT_STREQ(error.what(), "Interrupted: counting was not finished, and nothing is left of it.");
    }
    EXPECT_EQ(calls, 5);
    {
        const WatchWork within([](std::string_view, double) { return true; });
        EXPECT_NO_THROW(work_goes_on("counting", 0.5));
    }
    std::thread([] { EXPECT_NO_THROW(work_goes_on("on another thread")); }).join();
    EXPECT_EQ(calls, 5);
}

TEST(LongWork, NoBandStartsAfterCancelling) {
    const WatchWork watch([](std::string_view, double) { return false; });
    std::atomic<int> begun{0};
    const int slots = parallel_threads();
    EXPECT_THROW(run_bands(100000, slots,
                           [&](int, int) {
                               ++begun;
                               work_goes_on("bands");
                               std::this_thread::yield();
                           }),
                 Cancelled);
    EXPECT_LT(begun, 100000);
}

} // namespace specklescope::memory_budget_test
