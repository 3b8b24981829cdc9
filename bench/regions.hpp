// Cost of regions: their statistics in the pipeline, and their traces in the window.
#pragma once

#include "config/settings.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::bench {

/// Rows of speckle:radius=2 on 1392×1040 u16 without copies of the results: on the host, unless only the GPU
/// is requested, and on the GPU if there is one.
nlohmann::ordered_json run_regions(const Settings& settings, bool gpu);

/// Rows of section "traces": TraceHistory with a million values and more, in µs per call.
nlohmann::ordered_json run_traces();

} // namespace specklescope::bench
