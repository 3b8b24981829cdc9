// Results of measurements as JSON, and as plain tables in the terminal. Pages are made from the JSON by
// docs/benchmarks/page.py.
#pragma once

#include "bench/timing.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

nlohmann::ordered_json json_of(const Spread& spread);

/// One column for each key of the rows; a Spread is shown as median ± half the distance of its quartiles.
std::string table(const nlohmann::ordered_json& rows);
/// One line for each fact.
std::string list(const nlohmann::ordered_json& facts);

/// Prints reports of earlier runs. Throws RunError if a file is not a report.
void print_reports(const std::vector<std::string>& files);

} // namespace specklescope::bench
