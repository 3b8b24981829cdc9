#include "session/alarms.hpp"

#include "config/numbers.hpp"
#include "session/freshness.hpp"
#include "session/recordings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace specklescope {

using namespace std::chrono_literals;

const char* to_string(AlarmKind kind) {
    static constexpr std::array kNames = {"recording_stopped", "source_lost", "disk_low",
                                          "frames_dropped",    "saturated",   "exposure_assumed"};
    return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<Alarm> alarms(const AlarmFacts& facts, const std::vector<Alarm>& before) {
    std::vector<Alarm> now;
    const auto raise = [&](AlarmKind kind, std::string reason) {
        const bool by_reason = kind == AlarmKind::recording_stopped; // one for each recording
        const auto old = std::find_if(before.begin(), before.end(), [&](const Alarm& alarm) {
            return alarm.kind == kind && (!by_reason || alarm.reason == reason);
        });
        now.push_back({kind, std::move(reason), old == before.end() ? facts.now : old->since, facts.now,
                       old != before.end() && old->acknowledged});
    };
    for (const std::string& reason : facts.recordings_stopped)
        raise(AlarmKind::recording_stopped, reason);
    if (!facts.source_lost.empty())
        raise(AlarmKind::source_lost, facts.source_lost);
    if (facts.disk_left_s >= 0 && facts.disk_left_s < kDiskLow_s)
        raise(AlarmKind::disk_low, "The disk is full in " + clock_text(facts.disk_left_s) +
                                       ". Free space, or stop the recording.");
    if (facts.dropped > 0)
        raise(AlarmKind::frames_dropped, count_text(facts.dropped) +
                                             (facts.dropped == 1 ? " frame was" : " frames were") +
                                             " dropped in the last minute.");
    if (facts.saturated > facts.saturation_limit)
        raise(AlarmKind::saturated,
              share_text(facts.saturated) + " of the frame is saturated. Reduce light, gain or exposure.");
    else if (const auto old = std::find_if(before.begin(), before.end(),
                                           [&](const Alarm& alarm) {
                                               return alarm.kind == AlarmKind::saturated &&
                                                      facts.now - alarm.seen < 2s;
                                           });
             old != before.end())
        now.push_back(*old);
    if (!facts.assumed.empty())
        raise(AlarmKind::exposure_assumed, facts.assumed);
    return now;
}

double disk_left_s(const std::vector<std::pair<std::uint64_t, double>>& left) {
    std::map<std::uint64_t, double> rates; // parts of the room a second
    for (const auto& [disk, seconds] : left)
        if (!std::isnan(seconds))
            rates[disk] += 1 / std::max(seconds, 1e-9);
    double first = -1;
    for (const auto& [disk, rate] : rates)
        first = first < 0 ? 1 / rate : std::min(first, 1 / rate);
    return first;
}

std::uint64_t CountInMinute::update(SteadyClock::time_point now, std::uint64_t total) {
    const std::uint64_t before = std::exchange(total_, total).value_or(total);
    sum_ += total > before ? total - before : 0;
    if (sums_.empty() || now - sums_.back().first >= 1s)
        sums_.emplace_back(now, sum_);
    while (sums_.size() > 1 && now - sums_[1].first >= 60s)
        sums_.pop_front();
    return sum_ - sums_.front().second;
}

namespace {

std::uint64_t disk_of(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_dev) : 0;
}

double disk_left_of(const Recordings& recordings) {
    std::vector<std::pair<std::uint64_t, double>> left;
    for (const Recording& recording : recordings.running())
        if (const SinkStatus status = recording.sink->status(); !std::isnan(status.disk_left_s))
            left.emplace_back(disk_of(status.path), status.disk_left_s);
    return disk_left_s(left);
}

/// Dropped frames, without those of a failed recorder, which has its own alarm.
std::uint64_t dropped(const DropCounts& drops, const Recordings& recordings) {
    std::uint64_t total = drops.source + drops.ring + drops.failed;
    for (const Recording& recording : recordings.running())
        if (const SinkStatus status = recording.sink->status(); status.error.empty())
            total += status.dropped;
    return total;
}

/// The mark "* " belongs to numbers.
std::string without_mark(const std::string& text) { return text.starts_with("* ") ? text.substr(2) : text; }

std::string lost_reason(const PipelineStatus& status, const Freshness& freshness) {
    return !freshness.stale          ? ""
           : !status.message.empty() ? status.message
                                     : "No frames come from the source.";
}

} // namespace

std::vector<Alarm> AlarmWatch::update(const Pipeline* pipeline, const Recordings& recordings,
                                      const std::deque<std::string>& recordings_stopped,
                                      const Freshness& freshness, double saturation_limit) {
    AlarmFacts facts{SteadyClock::now(), recordings_stopped};
    if (facts.now - updated_ < 100ms)
        return {};
    updated_ = facts.now;
    facts.saturation_limit = saturation_limit;
    if (pipeline) {
        const PipelineStatus status = pipeline->status();
        const StatsSnapshot stats = pipeline->stats();
        facts.source_lost = lost_reason(status, freshness);
        facts.disk_left_s = disk_left_of(recordings);
        facts.dropped = dropped_.update(facts.now, dropped(stats.drops, recordings));
        if (!freshness.stale && suffers_from_saturation(stats.newest.quantity))
            facts.saturated = saturated_share(stats.counts.last);
        if (status.source.live && rests_on_assumption(stats.newest.quantity, stats.newest.exposure))
            facts.assumed = without_mark(assumed_text(stats.newest.exposure));
    }
    const std::vector<Alarm> before = std::exchange(now_, alarms(facts, now_));
    std::vector<Alarm> fresh;
    for (const Alarm& alarm : now_)
        if (alarm.since == facts.now)
            fresh.push_back(alarm);
    return fresh;
}

void AlarmWatch::acknowledge() {
    std::erase_if(now_, [](const Alarm& alarm) { return alarm.kind == AlarmKind::recording_stopped; });
    for (Alarm& alarm : now_)
        alarm.acknowledged = true;
}

} // namespace specklescope
