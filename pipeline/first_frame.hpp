// Where in a file a run begins.
#pragma once

#include "pipeline/source.hpp"

namespace specklescope {

/// The frame that is shown at this time of a file of an even rate; throws UsageError where it does not say
/// its rate.
std::uint64_t frame_at(double seconds, const SourceInfo& source);

/// Goes to frame `from`, or to the one at `seconds` where that is not 0, of a source that was just opened,
/// and says in `info` what is learnt of its length: by the frames' own times, and where they have none by
/// the rate, which the log tells. Throws UsageError where there is no such frame.
std::uint64_t begin_at(Source& source, std::uint64_t from, double seconds, SourceInfo& info);

} // namespace specklescope
