// Edges of stage speckle with border = omit, after its kernel on the same stream.
#pragma once

#include "stages/speckle/speckle.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Writes the results within radius of an edge, and replaces their undefined and infinite pixels in `counts`
/// (device memory).
void run_speckle_omit(ConstDeviceView input, DeviceView output, const SpeckleParams& params,
                      const FrameInfo& info, PixelCounts* counts, cudaStream_t stream);

} // namespace specklescope::cuda
