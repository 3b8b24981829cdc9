// Summary of a run without a window: rows of a name and its text.
#pragma once

#include "net/control/server.hpp"
#include "pipeline/sink.hpp"
#include "pipeline/source.hpp"
#include "pipeline/stats.hpp"

#include <string>

namespace specklescope {

class Chain;

inline constexpr std::size_t kReportLeft = 10; ///< characters before the text of a row

/// Source, chain, frames and speed; `scale` from scale_text().
std::string statistics_rows(const StatsSnapshot& stats, const SourceInfo& source, const Chain& chain,
                            const std::string& scale);
/// The files of a recorder.
std::string recorder_rows(const SinkStatus& status);
/// Results sent to other programs: `how` and `where`.
std::string sent_row(const char* how, const SinkStatus& status, const std::string& where);
std::string answered_row(const ControlCounts& counts, const std::string& where);

} // namespace specklescope
