// Reads the traces of regions back from a table of text, as --traces writes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

struct RegionTrace {
    std::string region;
    std::vector<double> times, values; ///< s; NaN: none
};

struct TraceTable {
    std::vector<RegionTrace> regions; ///< in the order in which they come first
    std::uint64_t rows = 0;
    std::string clock;    ///< the column that the times are of: capture_s, or arrival_s where that stands
    bool cut_off = false; ///< the last line has no end: it is left out
};

/// The column `mean` of each region. Any comma-separated table (RFC 4180, a field on one line) with columns
/// of the names region, mean and capture_s, or arrival_s in its place; lines that begin with # and empty
/// lines are passed over. Throws RunError where the file cannot be read, UsageError with the line for what
/// is no such table.
TraceTable read_trace_table(const std::string& path);

} // namespace specklescope
