// Results as JSON, and as plain tables in the terminal. docs/benchmarks/page.py makes pages from the JSON.
#pragma once

#include "bench/timing.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

nlohmann::ordered_json json_of(const Spread& spread);

/// One column per key; a Spread is shown as median ± half its interquartile range.
std::string table(const nlohmann::ordered_json& rows);
/// One line per fact.
std::string list(const nlohmann::ordered_json& facts);

/// Prints reports of earlier runs. Throws RunError if a file is not a report.
void print_reports(const std::vector<std::string>& files);

} // namespace specklescope::bench
