// What a reader wants to know first: a dozen rows and three charts from the reports.
#pragma once

#include "bench/plot.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

/// Ours, the quickest other library or method measured beside it, their ratio, the time of a mere copy of the
/// same bytes, the fraction of it: a row for each well-known work that a report holds. Empty if it holds
/// none.
std::string summary_table(const std::vector<nlohmann::ordered_json>& reports);

/// Time over radius, over sigma and over size, by the end of their file's name; those without points are left
/// out.
std::vector<std::pair<std::string, Plot>> plots(const nlohmann::ordered_json& report);

/// Work that `row` of a report was measured for, without the processor in front and what the stage chose
/// behind.
std::string bare_work(const nlohmann::ordered_json& row);

} // namespace specklescope::bench
