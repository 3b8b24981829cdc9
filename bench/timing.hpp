// Timing: warm-up, rounds, median and spread.
#pragma once

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

} // namespace specklescope::bench
