// PixelCounts of colour images on the device. Kernels in tiles see samples, and a pixel's three samples may
// be in two warps. They count samples separately; if there are any, a second pass over the image counts
// pixels. Inside cuda/ only.
#pragma once

#include "cuda/counts.hpp"
#include "cuda/device.hpp"

namespace specklescope::cuda {

/// For grey images the tiles' kernel counts directly.
class ColourCounts {
public:
    ColourCounts() = default;
    explicit ColourCounts(const Shape& input)
        : samples_(input.channels == 3 ? Buffer(sizeof(PixelCounts), device_memory()) : Buffer()),
          colour_(input.channels == 3) {}

    /// Counters for the tiles' kernel, for a result with `counts`.
    PixelCounts* begin(PixelCounts* counts, cudaStream_t stream) const {
        if (!colour_)
            return counts;
        check(cudaMemsetAsync(samples_.as<PixelCounts>(), 0, sizeof(PixelCounts), stream), "cudaMemsetAsync");
        return samples_.as<PixelCounts>();
    }

    /// Call after that kernel with its f32 image.
    void finish(ConstDeviceView output, PixelCounts* counts, cudaStream_t stream) const {
        if (colour_)
            count_undefined(output, counts, stream, samples_.as<PixelCounts>());
    }

private:
    Buffer samples_;
    bool colour_ = false;
};

} // namespace specklescope::cuda
