// A second pipeline over a film, run next to the session's own: for the whole film and for a comparison.
#pragma once

#include "session/state.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// True for an option of a source that sets its pace, not its frames.
bool sets_pace(const std::string& option);
/// Why the session's source cannot be read a second time; empty: it can.
std::string why_no_second(const SessionState& state);
/// Not started. With the session's chain, channel, regions and backend, at full speed, once and without
/// outputs. It reads the session's source with its options as they are edited now, or `other`. Requires
/// why_no_second() to be empty.
std::unique_ptr<Pipeline> second_pipeline(const SessionState& state, const SourceArgument* other = nullptr);

} // namespace specklescope
