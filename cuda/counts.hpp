// Counts on the device and their transfer to the host. Inside cuda/ only.
#pragma once

#include "pipeline/counts.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Adds the samples at `threshold` (saturation_threshold) or above to counts->raw_saturated.
void count_saturated(ConstDeviceView image, double threshold, PixelCounts* counts, cudaStream_t stream);
/// Adds undefined and infinite pixels of an f32 image to `counts`.
void count_undefined(ConstDeviceView image, PixelCounts* counts, cudaStream_t stream);

/// Indices of the counts that belong to a result; −1: none.
struct CountPlaces {
    int raw = -1, saturated = -1, undefined = -1;
};
/// Writes the result's counts to `host` (page-locked; windows and raw_samples are 0) and resets all `count`
/// of them (1…32, in device memory) for the next frame. A kernel instead of a copy, which would interrupt the
/// transfer of pixels.
void publish_counts(PixelCounts* counts, int count, CountPlaces places, PixelCounts* host,
                    cudaStream_t stream);

} // namespace specklescope::cuda
