// --stats FILE: what may stand there, and writing it.
#pragma once

#include "pipeline/stats.hpp"

#include <string>

namespace specklescope {

/// Throws RunError if statistics could not be written there later, or if a file of that name holds anything
/// else than statistics of an earlier run: that is never replaced.
void check_statistics_file(const std::string& path);
/// Writes the statistics, whole or not at all. Where that cannot be they go to standard error, with the
/// reason: a run is not done again because a disk is full. False then. An empty path: nothing is asked for.
bool keep_statistics(const std::string& path, const std::string& json) noexcept;

} // namespace specklescope
