// Inner loop of stage flow: one row, in the best instruction set of the processor. Used only by
// stages/flow/flow.cpp.
#pragma once

#include "stages/flow/flow.hpp"

namespace specklescope {

/// flow_value() of every sample; adds undefined and infinite results to `counts`.
void run_flow_row(const float* input, int width, const FlowScale& scale, float* output, PixelCounts& counts);

} // namespace specklescope
