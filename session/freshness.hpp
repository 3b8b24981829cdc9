// Decides whether the newest frame of a live source is recent. The window calls this before it shows a
// value.
#pragma once

#include "pipeline/pipeline.hpp"

#include <optional>
#include <string>

namespace specklescope {

struct Freshness {
    bool stale = false; ///< the image is old, and its values are not shown
    bool lost = false;  ///< the source has failed or is being reconnected; implies stale
    double age_s = 0;   ///< time since the newest frame; 0: not stale, or no frame came yet
};

/// `newest`: of the results. `since`: silence before this time does not count, such as a pause by the user.
Freshness freshness(const PipelineStatus& status, const std::optional<RateMeter::Newest>& newest,
                    SteadyClock::time_point since, SteadyClock::time_point now);

/// "3.2 s", "12 s", "4:05".
std::string age_text(double seconds);

/// Follows the pauses of a pipeline.
class FreshnessWatch {
public:
    /// Call regularly. Null: no pipeline.
    void update(const Pipeline* pipeline);
    const Freshness& now() const { return now_; }

private:
    Freshness now_;
    SteadyClock::time_point since_{};
};

} // namespace specklescope
