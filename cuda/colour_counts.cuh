// PixelCounts of colour images on the device. Kernels in tiles see samples, and a pixel's three samples may
// be in two warps. They count samples separately; if there are any, a second pass over the image counts
// pixels. For .cu files only.
#pragma once

#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "pipeline/stage.hpp"

namespace specklescope::cuda {

struct ColourArgs {
    const PixelCounts* samples; ///< all zero: nothing to count
    const std::byte* input;
    std::size_t input_pitch;
    const std::byte* output; ///< f32
    std::size_t output_pitch;
    int width, height;
    float threshold; ///< saturation threshold of the input; +∞: none
    PixelCounts* counts;
};

template <class T> __global__ void __launch_bounds__(kTileThreads)
    count_colour_kernel(const __grid_constant__ ColourArgs args) {
    if (args.samples->undefined == 0 && args.samples->infinite == 0 && args.samples->saturated == 0)
        return;
    const std::size_t pixel = static_cast<std::size_t>(blockIdx.x) * kTileThreads + threadIdx.x;
    const auto width = static_cast<std::size_t>(args.width);
    const std::size_t y = pixel / width;
    unsigned undefined = 0;
    unsigned infinite = 0;
    unsigned saturated = 0;
    if (y < static_cast<std::size_t>(args.height)) {
        const std::size_t first = 3 * (pixel - y * width);
        const auto* const input = reinterpret_cast<const T*>(args.input + y * args.input_pitch) + first;
        const auto* const output =
            reinterpret_cast<const float*>(args.output + y * args.output_pitch) + first;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            undefined |= isnan(output[c]) ? 1U : 0U;
            infinite |= isinf(output[c]) ? 1U : 0U;
            saturated |= isfinite(args.threshold) && static_cast<float>(input[c]) >= args.threshold ? 1U : 0U;
        }
    }
    count_in_warp(args.counts->undefined, undefined);
    count_in_warp(args.counts->infinite, infinite);
    count_in_warp(args.counts->saturated, saturated);
}

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

    /// Call after that kernel.
    void finish(ConstDeviceView input, DeviceView output, float threshold, PixelCounts* counts,
                cudaStream_t stream) const {
        if (!colour_)
            return;
        const ColourArgs args{.samples = samples_.as<PixelCounts>(),
                              .input = input.data,
                              .input_pitch = input.pitch,
                              .output = output.data,
                              .output_pitch = output.pitch,
                              .width = output.shape.width,
                              .height = output.shape.height,
                              .threshold = threshold,
                              .counts = counts};
        const auto blocks = static_cast<unsigned>((output.shape.pixels() + kTileThreads - 1) / kTileThreads);
        dispatch(input.shape.type, [&](auto zero) {
            count_colour_kernel<decltype(zero)><<<blocks, kTileThreads, 0, stream>>>(args);
        });
        check_launch("the kernel that counts pixels of colour");
    }

private:
    Buffer samples_;
    bool colour_ = false;
};

} // namespace specklescope::cuda
