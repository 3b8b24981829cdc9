// --stats FILE: what may stand there, and writing it.
#pragma once

#include "pipeline/stats.hpp"

#include <string>

namespace specklescope {

/// Throws RunError if statistics could not be written there later, or if a file of that name holds anything
/// else than statistics of an earlier run: that is never replaced.
void check_statistics_file(const std::string& path);
/// Checks again, and writes whole or not at all.
void write_statistics_file(const std::string& path, const StatsSnapshot& stats);

} // namespace specklescope
