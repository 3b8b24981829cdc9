// What stage speckle does at the edges with border = omit, behind its kernel on the same stream.
#pragma once

#include "stages/speckle/speckle.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Writes the results within radius of an edge, and puts their undefined and infinite pixels into `counts`
/// (device memory) in place of those that were there.
void run_speckle_omit(ConstDeviceView input, DeviceView output, const SpeckleParams& params,
                      const FrameInfo& info, PixelCounts* counts, cudaStream_t stream);

} // namespace specklescope::cuda
