// The lines of a file of traces. Used by recording/traces.cpp alone.
#pragma once

#include "pipeline/sink.hpp"

#include <string>
#include <vector>

namespace specklescope {

/// What a file of traces begins with.
inline constexpr const char* kTracesMark = "# Specklescope traces, version 1\n";

/// What the rows say beside the result's own numbers.
struct TraceExtras {
    double um = 0;               ///< a side of a pixel; 0: unknown
    std::string scale{};         ///< scale_text()
    bool baseline = false;       ///< there are columns for it
    std::string baseline_text{}; ///< what it is, or why it does not count
    std::vector<double> f0{};    ///< of each region; empty where there is none
};

/// The mark, the source and what the columns are.
std::string traces_begin(const StreamInfo& stream, bool baseline);
/// The names of the columns.
std::string traces_columns(bool baseline);
/// What the numbers rest on from this result on: chain, unit, exposure, which mean it is, regions.
std::string traces_settings(const Result& result, const TraceExtras& extras);
/// A row for each region.
void add_rows(const Result& result, const TraceExtras& extras, std::string& text);

/// "# event: 1,120,4.000000000,stimulus": its number, sequence, capture_s and label; without a label it is
/// removed.
std::string event_line(const EventMark& event);

} // namespace specklescope
