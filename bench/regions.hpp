// The cost of regions: their statistics in the stream of frames, and their traces in the window.
#pragma once

#include "config/settings.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::bench {

/// Rows of speckle:radius=2 on 1392×1040 u16, results left where they are: on the host, unless only the GPU
/// is asked for, and on the GPU if there is one.
nlohmann::ordered_json run_regions(const Settings& settings, bool gpu);

/// Rows of section "traces": TraceHistory with a million and more values, in µs of one call.
nlohmann::ordered_json run_traces();

} // namespace specklescope::bench
