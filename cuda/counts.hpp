// Counts on their way to the host. Inside cuda/ only.
#pragma once

#include "pipeline/stage.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Writes the last of `steps` counts (1…kMaxStages, in device memory) to `host` (page-locked) and leaves all
/// of them zero for the next frame. One launch, where a copy would stand between two frames' pixels on the
/// bus.
void publish_counts(PixelCounts* counts, int steps, PixelCounts* host, cudaStream_t stream);

} // namespace specklescope::cuda
