// What live traces of regions cost: taking a frame in, and the columns of a plot.
#pragma once

#include <nlohmann/json.hpp>

namespace specklescope::bench {

/// Rows of section "traces": TraceHistory with a million and more values, in µs of one call.
nlohmann::ordered_json run_traces();

} // namespace specklescope::bench
