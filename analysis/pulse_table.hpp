// Reads the traces of regions back from a table of text, as --traces writes it.
#pragma once

#include "pipeline/regions/regions.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

inline constexpr std::uint64_t kNoSequence = std::numeric_limits<std::uint64_t>::max();
struct RegionTrace {
    std::string region;
    std::vector<double> times, values;    ///< s; NaN: none
    std::vector<std::uint64_t> sequences; ///< numbers of the frames; one a row; kNoSequence: none
};

/// "# event: number,sequence,capture_s,label"; the last line of a number, unless that takes it back.
struct TableEvent {
    std::uint64_t number = 0, sequence = 0;
    double capture_s = 0;
    std::string label;
};

struct TraceTable {
    std::vector<RegionTrace> regions; ///< in the order in which they come first
    std::uint64_t rows = 0;
    /// Of those, made while a stage filled its history or took a capture (column warming_up): left out of the
    /// traces.
    std::uint64_t in_warmup = 0;
    /// Of those, made with other settings (chain, map, mean, exposure) than the last row: left out of the
    /// traces, since their values are not comparable.
    std::uint64_t other_settings = 0;
    std::string clock;    ///< the column that the times are of: capture_s, or arrival_s where that stands
    bool cut_off = false; ///< the last line has no end: it is left out
    std::vector<TableEvent> events; ///< by their numbers
    std::string map; ///< what the values are, as "# version N, map:" says: "K (1)"; empty: unknown
    std::optional<RegionMean> mean; ///< how they were taken; none where the table does not say it
};

/// The column `mean` of each region. Any comma-separated table (RFC 4180, a field on one line) with columns
/// of the names region, mean and capture_s, or arrival_s in its place; lines that begin with # and empty
/// lines are passed over. Throws RunError where the file cannot be read, UsageError with the line for what
/// is no such table.
TraceTable read_trace_table(const std::string& path);

} // namespace specklescope
