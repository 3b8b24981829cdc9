// Results as JSON, and as plain tables in the terminal. docs/benchmarks/page.py makes pages from the JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace specklescope::bench {

/// Duration of one call in ms: the median of the rounds, and both quartiles.
struct Spread {
    double median = 0, low = 0, high = 0;
    int rounds = 0;
};
Spread spread_of(std::vector<double> times_ms);

/// Times `call(i)` with increasing i on the host's clock. Warms up first; then rounds of at least `round_ms`
/// until `total_ms` are over, at least 5 and at most 25.
Spread time_calls(const std::function<void(int)>& call, double round_ms = 10, double total_ms = 300);

/// A number as text with three significant digits: "0.00123", "12.3", "4560".
std::string digits(double value);

nlohmann::ordered_json json_of(const Spread& spread);

/// One column per key; a Spread is shown as median ± half its interquartile range.
std::string table(const nlohmann::ordered_json& rows);
/// One line per fact.
std::string list(const nlohmann::ordered_json& facts);

/// Prints reports of earlier runs. Throws RunError if a file is not a report.
void print_reports(const std::vector<std::string>& files);

} // namespace specklescope::bench
