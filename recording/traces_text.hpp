// The lines of a file of traces. Used by recording/traces.cpp alone.
#pragma once

#include "pipeline/sink.hpp"

#include <string>

namespace specklescope {

/// What a file of traces begins with.
inline constexpr const char* kTracesMark = "# Specklescope traces, version 1\n";

/// The mark, the source and what the columns are.
std::string traces_begin(const StreamInfo& stream);
/// The names of the columns.
std::string traces_columns();
/// What the numbers rest on from this result on: chain, unit, exposure, which mean it is, regions.
/// `um`: a side of a pixel; 0: unknown.
std::string traces_settings(const Result& result, double um);
/// A row for each region.
void add_rows(const Result& result, double um, std::string& text);

/// "# event: 1,120,4.000000000,stimulus": its number, sequence, capture_s and label; without a label it is
/// removed.
std::string event_line(const EventMark& event);

} // namespace specklescope
