// Counts of what is on the device, and their way to the host. Inside cuda/ only.
#pragma once

#include "pipeline/counts.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Adds the samples at `threshold` (saturation_threshold) or above to counts->raw_saturated.
void count_saturated(ConstDeviceView image, double threshold, PixelCounts* counts, cudaStream_t stream);
/// Adds undefined and infinite pixels of an f32 image to `counts`.
void count_undefined(ConstDeviceView image, PixelCounts* counts, cudaStream_t stream);

/// Which of several counts hold what belongs to a result; −1: none does.
struct CountPlaces {
    int raw = -1, saturated = -1, undefined = -1;
};
/// Writes the result's counts to `host` (page-locked; windows and raw_samples are 0 there) and leaves all
/// `count` of them (1…32, in device memory) zero for the next frame. One launch, where a copy would stand
/// between two frames' pixels on the bus.
void publish_counts(PixelCounts* counts, int count, CountPlaces places, PixelCounts* host,
                    cudaStream_t stream);

} // namespace specklescope::cuda
