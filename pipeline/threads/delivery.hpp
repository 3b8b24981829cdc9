// Passes results to the sinks. Used only by the processing thread. Internal to pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

namespace specklescope {

/// True if the viewer or a sink needs the next result in host memory.
bool want_host_image(const Flow& flow);
/// Passes the result to every sink; waits for capacity if the source is a file. A sink that throws is
/// removed, and the run continues.
void push_to_sinks(Flow& flow, const Result& result);

} // namespace specklescope
