// A check of the source that a session shows (config/look/check_source.hpp), next to its run.
#pragma once

#include "analysis/recording_check.hpp"
#include "session/state.hpp"

#include <functional>

namespace specklescope {

/// The check as work for a background thread (base/long_work.hpp). A source that can seek is opened a second
/// time; of others, the next frames of the pipeline are checked. Requires state.running(). The work throws as
/// check_source() does.
std::function<CheckReport()> source_check(const SessionState& state);

} // namespace specklescope
