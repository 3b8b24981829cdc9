// The mark that a live source's silence leaves on its curves.
#include "pipeline/clock/stale.hpp"
#include "tests/analysis/trace_history_helpers.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace specklescope::trace_silence_test {

using namespace std::chrono_literals;

TEST(StaleAfter, IsThreeFrameTimesButAtLeastHalfASecond) {
    EXPECT_EQ(stale_after(0ms), 500ms);
    EXPECT_EQ(stale_after(10ms), 500ms);
    EXPECT_EQ(stale_after(200ms), 600ms);
    EXPECT_EQ(stale_after(4s), 12s);
}

class TraceSilence : public testing::Test {
protected:
    void open(bool live) {
        StreamInfo stream;
        stream.source.live = live;
        history.open(stream);
    }
    void push(std::int64_t ms, bool jump = false) {
        history.push(result(n++, ms * kMs, placed({"a"}), {1}, jump));
    }
    /// Restarts after the first, which names the source.
    std::vector<TraceRestart> marks() { return history.overview().restarts; }
    /// Columns that are not joined to the one before.
    std::vector<std::int64_t> breaks() {
        std::vector<std::int64_t> found;
        const std::vector<TraceColumn> curve = history.curves(0, 1'000'000 * kMs, 1000).at(0);
        for (const TraceColumn& column : curve)
            if (column.broken)
                found.push_back(column.time_ns / kMs);
        return found;
    }
    TraceHistory history;
    std::uint64_t n = 0;
};

TEST_F(TraceSilence, ALiveSourceIsMarkedWhereItsFramesComeAgain) {
    open(true);
    for (int i = 0; i < 10; ++i)
        push(i * 50);
    push(450 + 3200);
    push(3700);
    ASSERT_EQ(marks().size(), 1U);
    EXPECT_EQ(marks()[0].time_ns, 3650 * kMs);
    EXPECT_NE(marks()[0].what.find("3.2 s"), std::string::npos) << marks()[0].what;
    EXPECT_EQ(breaks(), (std::vector<std::int64_t>{0, 3650}));
}

TEST_F(TraceSilence, AReconnectionIsMarkedWithItsSilence) {
    open(true);
    push(0);
    push(50);
    push(8050, true);
    ASSERT_EQ(marks().size(), 1U);
    EXPECT_NE(marks()[0].what.find("8.0 s"), std::string::npos) << marks()[0].what;
}

TEST_F(TraceSilence, ASourceThatBecomesSlowIsMarkedOnce) {
    open(true);
    for (int i = 0; i < 10; ++i)
        push(i * 50);
    for (int i = 1; i < 20; ++i)
        push(450 + i * 2000);
    EXPECT_EQ(marks().size(), 1U);
}

TEST_F(TraceSilence, AFileHasItsOwnTimesAndNoSilence) {
    open(false);
    push(0);
    push(50);
    push(8050);
    EXPECT_TRUE(marks().empty());
    EXPECT_EQ(breaks(), (std::vector<std::int64_t>{0}));
}

} // namespace specklescope::trace_silence_test
