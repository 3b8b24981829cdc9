// A source that was away: the number of missed frames is estimated from its rate and reported as an estimate.
#include "pipeline/pipeline.hpp"
#include "pipeline/threads/absence.hpp"
#include "tests/support/running.hpp"
#include "tests/support/scripted_source.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace specklescope::absence_test {

using namespace std::chrono_literals;

TEST(Absence, IsEstimatedFromTheRateBefore) {
    Absence absence;
    SteadyClock::time_point now{};
    const auto frames = [&](int count, std::chrono::milliseconds period) {
        for (int i = 0; i < count; ++i, now += period)
            EXPECT_FALSE(absence.frame(now));
        now -= period;
    };
    frames(11, 20ms); // 50 frames/s
    absence.begins(10);
    absence.begins(10);
    now += 2000ms;
    auto missed = absence.frame(now);
    ASSERT_TRUE(missed);
    EXPECT_EQ(missed->away, 2s);
    EXPECT_EQ(missed->frames, 99U) << "100 periods, the last of which brought a frame";
    now += 20ms;
    frames(3, 20ms); // too few to measure: the earlier rate is used
    absence.begins(10);
    now += 1000ms;
    missed = absence.frame(now);
    ASSERT_TRUE(missed);
    EXPECT_EQ(missed->frames, 49U);
    now += 10ms;
    frames(20, 10ms); // 100 frames/s
    absence.begins(10);
    now += 500ms;
    EXPECT_EQ(absence.frame(now)->frames, 49U);
}

TEST(Absence, UsesTheSourcesRateWithoutEarlierFrames) {
    Absence absence;
    SteadyClock::time_point now{};
    EXPECT_FALSE(absence.frame(now));
    absence.begins(30);
    EXPECT_EQ(absence.frame(now + 1s)->frames, 29U);
    Absence unknown;
    EXPECT_FALSE(unknown.frame(now));
    unknown.begins(0);
    EXPECT_EQ(unknown.frame(now + 1s)->frames, 0U) << "nobody knows a rate";
    Absence never;
    never.begins(30);
    EXPECT_FALSE(never.frame(now)) << "there was no frame before";
}

TEST(Absence, IsRoundedToWholePeriods) {
    for (const auto& [away, frames] :
         {std::pair{190ms, 1U}, {240ms, 1U}, {260ms, 2U}, {110ms, 0U}, {40ms, 0U}}) {
        Absence absence;
        const SteadyClock::time_point now{};
        EXPECT_FALSE(absence.frame(now));
        absence.begins(10); // a period is 100 ms
        const auto missed = absence.frame(now + away);
        ASSERT_TRUE(missed);
        EXPECT_EQ(missed->frames, frames) << away.count() << " ms";
    }
}

TEST(Absence, IsInTheStatistics) {
    SourceInfo info = test::camera_info();
    info.rate = 200;
    auto source =
        std::make_unique<test::ScriptedSource>(info, [](test::ScriptedSource& self, FramePort& port) {
            if (self.offered == 3 && self.opened == 1)
                throw RunError("The camera was unplugged.");
            if (self.offered == 6)
                return Source::Status::end;
            self.offer(port, test::kSmall);
            return Source::Status::frame;
        });
    Pipeline pipeline(std::move(source), Chain(), {});
    test::Listener listener(pipeline);
    pipeline.start();
    ASSERT_TRUE(test::eventually([&] { return pipeline.finished(); }));
    const StatsSnapshot stats = pipeline.stats();
    EXPECT_EQ(stats.away.reopened, 1U);
    EXPECT_GT(stats.away.seconds, 0.4) << "the pause before it is tried again";
    EXPECT_NEAR(static_cast<double>(stats.away.missed), stats.away.seconds * 200 - 1, 0.6);
    EXPECT_EQ(listener.heard("(estimate)"), 1) << listener.all();
    const auto json = nlohmann::json::parse(to_json(stats));
    EXPECT_EQ(json["away"]["frames_missed_estimate"], stats.away.missed);
    EXPECT_TRUE(is_statistics(to_json(stats)));
}

} // namespace specklescope::absence_test
