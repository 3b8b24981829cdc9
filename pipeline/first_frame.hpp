// Start frame of a run within a file.
#pragma once

#include "pipeline/source.hpp"

namespace specklescope {

/// Frame shown at this time in a file with a constant rate; throws UsageError if the rate is unknown.
std::uint64_t frame_at(double seconds, const SourceInfo& source);

/// Seeks a newly opened source to frame `from`, or to `seconds` if not 0, and updates the length in `info`.
/// Uses the frames' own times or, without them, the rate (logged). Throws UsageError if there is no such
/// frame.
std::uint64_t begin_at(Source& source, std::uint64_t from, double seconds, SourceInfo& info);

} // namespace specklescope
