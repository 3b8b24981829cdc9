// The list of alarms for each state of the session.
#include "session/alarms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace specklescope::alarms_test {

using namespace std::chrono_literals;

const SteadyClock::time_point kBegin = SteadyClock::time_point{} + 1h;

std::string kinds(const std::vector<Alarm>& all) {
    std::string text;
    for (const Alarm& alarm : all)
        text += (text.empty() ? "" : " ") + std::string(to_string(alarm.kind)) +
                (alarm.acknowledged ? " (acknowledged)" : "");
    return text;
}

TEST(Alarms, EachFactRaisesItsOwn) {
    struct Case {
        std::function<void(AlarmFacts&)> change;
        const char* wanted;
    };
    for (const auto& [change, wanted] : {
             Case{[](AlarmFacts&) {}, ""},
             Case{[](AlarmFacts& f) {
                      f.recordings_stopped = {"a", "b"};
                  },
                  "recording_stopped recording_stopped"},
             Case{[](AlarmFacts& f) { f.source_lost = "gone"; }, "source_lost"},
             Case{[](AlarmFacts& f) { f.disk_left_s = kDiskLow_s; }, ""},
             Case{[](AlarmFacts& f) { f.disk_left_s = kDiskLow_s - 1; }, "disk_low"},
             Case{[](AlarmFacts& f) { f.disk_left_s = 0; }, "disk_low"},
             Case{[](AlarmFacts& f) { f.dropped = 1; }, "frames_dropped"},
             Case{[](AlarmFacts& f) { f.saturated = 0.01; }, ""},
             Case{[](AlarmFacts& f) { f.saturated = 0.011; }, "saturated"},
             Case{[](AlarmFacts& f) { f.assumed = "10 ms"; }, "exposure_assumed"},
             Case{[](AlarmFacts& f) {
                      f.assumed = "10 ms";
                      f.dropped = 2;
                      f.recordings_stopped = {"a"};
                  },
                  "recording_stopped frames_dropped exposure_assumed"},
         }) {
        AlarmFacts facts{.now = kBegin, .saturation_limit = 0.01};
        change(facts);
        EXPECT_EQ(kinds(alarms(facts, {})), wanted);
    }
}

TEST(Alarms, KeepTheirTimeAndStayAcknowledgedWhileTheyLast) {
    AlarmFacts facts{.now = kBegin, .dropped = 1};
    std::vector<Alarm> now = alarms(facts, {});
    now.at(0).acknowledged = true;
    facts.now += 30s;
    facts.dropped = 7;
    now = alarms(facts, now);
    ASSERT_EQ(kinds(now), "frames_dropped (acknowledged)");
    EXPECT_EQ(now[0].since, kBegin);
    EXPECT_NE(now[0].reason.find('7'), std::string::npos) << now[0].reason;
    facts.now += 60s;
    facts.dropped = 0; // cured
    now = alarms(facts, now);
    EXPECT_EQ(kinds(now), "");
    facts.now += 1s;
    facts.dropped = 1; // a new one
    now = alarms(facts, now);
    EXPECT_EQ(kinds(now), "frames_dropped");
    EXPECT_EQ(now[0].since, facts.now);
}

TEST(Alarms, AnotherRecordingIsAnotherAlarm) {
    AlarmFacts facts{.now = kBegin, .recordings_stopped = {"a"}};
    std::vector<Alarm> now = alarms(facts, {});
    facts.now += 5s;
    facts.recordings_stopped = {"a", "b"};
    now = alarms(facts, now);
    ASSERT_EQ(now.size(), 2U);
    EXPECT_EQ(now[0].since, kBegin);
    EXPECT_EQ(now[1].since, facts.now);
}

TEST(Alarms, SaturationThatFlickersIsOneAlarm) {
    AlarmFacts facts{.now = kBegin, .saturated = 0.5, .saturation_limit = 0.01};
    std::vector<Alarm> now = alarms(facts, {});
    facts.saturated = 0;
    facts.now += 1s;
    now = alarms(facts, now);
    EXPECT_EQ(kinds(now), "saturated");
    facts.now += 1s;
    EXPECT_EQ(kinds(alarms(facts, now)), "");
    facts.saturated = 0.5;
    now = alarms(facts, now);
    ASSERT_EQ(kinds(now), "saturated");
    EXPECT_EQ(now[0].since, kBegin);
}

TEST(Alarms, RatesOfRecordingsOnOneDiskAddUp) {
    EXPECT_LT(disk_left_s({}), 0);
    EXPECT_LT(disk_left_s({{1, NAN}}), 0);
    EXPECT_DOUBLE_EQ(disk_left_s({{1, 100}}), 100);
    EXPECT_DOUBLE_EQ(disk_left_s({{1, 100}, {1, 100}}), 50);
    EXPECT_DOUBLE_EQ(disk_left_s({{1, 100}, {2, 80}}), 80);
    EXPECT_NEAR(disk_left_s({{1, 0}, {2, 80}}), 0, 1e-6);
}

TEST(Alarms, TheLastMinuteIsCounted) {
    CountInMinute count;
    std::uint64_t total = 5;
    EXPECT_EQ(count.update(kBegin, total), 0U) << "before";
    total += 3;
    EXPECT_EQ(count.update(kBegin + 500ms, total), 3U);
    for (int second = 1; second <= 58; ++second)
        EXPECT_EQ(count.update(kBegin + second * 1s, total), 3U) << second;
    for (int second = 59; second <= 62; ++second)
        (void)count.update(kBegin + second * 1s, total);
    EXPECT_EQ(count.update(kBegin + 63s, total), 0U);
    total += 2;
    EXPECT_EQ(count.update(kBegin + 64s, total), 2U);
    EXPECT_EQ(count.update(kBegin + 65s, 0), 2U) << "a recording has ended; its lost frames stay lost";
    EXPECT_EQ(count.update(kBegin + 66s, 1), 3U);
    for (int second = 67; second <= 126; ++second)
        (void)count.update(kBegin + second * 1s, 1);
    EXPECT_EQ(count.update(kBegin + 127s, 1), 0U);
}

} // namespace specklescope::alarms_test
