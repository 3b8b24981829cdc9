// Counts on the device and their transfer to the host. Inside cuda/ only.
#pragma once

#include "cuda/frames.hpp"
#include "pipeline/counts.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Up to kMostTogether pairs of addresses, for the parameters of a kernel.
template <class A, class B> struct Pairs {
    A a[kMostTogether];
    B b[kMostTogether];
    unsigned count = 0;
    void push_back(A first, B second) {
        a[count] = first;
        b[count++] = second;
    }
};
using ImagesOfFrames = Pairs<const std::byte*, PixelCounts*>; ///< pixels, counts
using CountsOfFrames = Pairs<PixelCounts*, PixelCounts*>;     ///< on the device, on the host

/// Adds the samples at `threshold` (saturation_threshold) or above to `saturated` of each frame's counts.
/// `like`: shape and pitch of all images.
void count_saturated(ConstDeviceView like, const ImagesOfFrames& images, double threshold,
                     cudaStream_t stream);
/// Adds undefined and infinite pixels of an f32 image to `counts`; nothing if `found` is given and has
/// neither (in device memory).
void count_undefined(ConstDeviceView image, PixelCounts* counts, cudaStream_t stream,
                     const PixelCounts* found = nullptr);

/// Indices of the counts that belong to a result; −1: none.
struct CountPlaces {
    int raw = -1, saturated = -1, undefined = -1;
};
/// Writes the result's counts of each frame to the host (page-locked; windows and raw_samples are 0) and
/// resets all `count` of them (at most 32, in device memory) for the next frame. A kernel instead of a copy,
/// which would interrupt the transfer of pixels.
void publish_counts(const CountsOfFrames& frames, int count, CountPlaces places, cudaStream_t stream);

} // namespace specklescope::cuda
