// What a run without a window says at its end: rows of a name and its text.
#pragma once

#include "net/control/server.hpp"
#include "pipeline/sink.hpp"
#include "pipeline/source.hpp"
#include "pipeline/stats.hpp"

#include <string>

namespace specklescope {

class Chain;

inline constexpr std::size_t kReportLeft = 10; ///< characters before the text of a row

/// What came in, what was made of it and how fast; `scale` as scale_text() has it.
std::string statistics_rows(const StatsSnapshot& stats, const SourceInfo& source, const Chain& chain,
                            const std::string& scale);
/// The files of a recorder.
std::string recorder_rows(const SinkStatus& status);
/// What went to others: `how` it was sent, and `where`.
std::string sent_row(const char* how, const SinkStatus& status, const std::string& where);
std::string answered_row(const ControlCounts& counts, const std::string& where);

} // namespace specklescope
