// Reads traces of regions from a text table, as written by --traces.
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
    std::vector<std::uint64_t> sequences; ///< frame numbers, one per row; kNoSequence: none
};

/// "# event: number,sequence,capture_s,label"; the last line of a number applies, unless it removes the
/// event.
struct TableEvent {
    std::uint64_t number = 0, sequence = 0;
    double capture_s = 0;
    std::string label;
};

struct TraceTable {
    std::vector<RegionTrace> regions; ///< in the order of first appearance
    std::uint64_t rows = 0;
    /// Rows made during a warm-up or a capture (column warming_up): not in the traces.
    std::uint64_t in_warmup = 0;
    /// Rows made with other settings (chain, map, mean, exposure) than the last row: not in the traces, since
    /// their values are not comparable.
    std::uint64_t other_settings = 0;
    std::string clock;              ///< column of the times: capture_s, or arrival_s if that is constant
    bool cut_off = false;           ///< the last line has no end and is ignored
    std::vector<TableEvent> events; ///< by number
    std::string map; ///< quantity of the values, from "# version N, map:": "K (1)"; empty: unknown
    std::optional<RegionMean> mean; ///< kind of mean; none if not stated
};

/// Column `mean` of each region. Accepts any comma-separated table (RFC 4180, fields on one line) with
/// columns region, mean, and capture_s or arrival_s; ignores empty lines and lines that start with #. Throws
/// RunError if the file cannot be read, UsageError with the line number for other content.
TraceTable read_trace_table(const std::string& path);

} // namespace specklescope
