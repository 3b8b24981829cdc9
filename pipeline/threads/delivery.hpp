// Results on their way to the sinks. Used by the processing thread alone. Internal to pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

namespace specklescope {

/// The viewer or a sink wants the pixels of the next result in the host's memory.
bool want_host_image(const Flow& flow);
/// Every sink gets the result; of a file it may take its time. A sink should report its own troubles; one
/// that throws is taken out, and the run goes on.
void push_to_sinks(Flow& flow, const Result& result);

} // namespace specklescope
