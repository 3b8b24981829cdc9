#include "session/freshness.hpp"

#include "config/numbers.hpp"
#include "pipeline/clock/stale.hpp"

#include <cmath>
#include <cstdio>

namespace specklescope {

Freshness freshness(const PipelineStatus& status, const std::optional<RateMeter::Newest>& newest,
                    SteadyClock::time_point since, SteadyClock::time_point now) {
    Freshness found;
    if (!status.source.live)
        return found;
    found.lost = status.state == RunState::reconnecting || status.state == RunState::failed;
    found.stale = found.lost;
    if (!newest)
        return found;
    if (status.state == RunState::running && !status.source.patient) {
        std::chrono::nanoseconds frame_time = newest->interval;
        if (status.source.rate > 0)
            frame_time =
                std::max(frame_time, std::chrono::nanoseconds(std::llround(1e9 / status.source.rate)));
        found.stale = now - std::max(newest->at, since) > stale_after(frame_time);
    }
    if (found.stale)
        found.age_s = std::chrono::duration<double>(now - newest->at).count();
    return found;
}

std::string age_text(double seconds) {
    if (seconds >= 60)
        return clock_text(seconds);
    char text[16];
    std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    return text;
}

void FreshnessWatch::update(const Pipeline* pipeline) {
    if (!pipeline || !pipeline->started()) {
        now_ = {};
        return;
    }
    const auto now = SteadyClock::now();
    if (pipeline->paused())
        since_ = now;
    now_ = freshness(pipeline->status(), pipeline->newest_result(), since_, now);
}

} // namespace specklescope
