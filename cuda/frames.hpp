// Frames that one launch processes. Inside cuda/ only.
#pragma once

#include "cuda/device.hpp"
#include "pipeline/stage.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace specklescope::cuda {

/// Largest number of frames that are started together.
inline constexpr int kMostTogether = 16;

/// Frames of Stage::run_together(): of the same shapes and pitches, alike() and without further images.
using DeviceRuns = std::span<const StageRun<Space::device>>;

/// Addresses of frames of the same shapes and pitches, for the parameters of a kernel: frame blockIdx.z
/// belongs to a block.
struct FrameAddresses {
    const std::byte* inputs[kMostTogether];
    std::byte* outputs[kMostTogether];
    PixelCounts* counts[kMostTogether];
    int count;

    FrameAddresses() = default;
    /// At most kMostTogether frames. Throws DeviceError, naming the stage, if rows do not start on 16 bytes.
    FrameAddresses(std::string_view stage, DeviceRuns frames) : count(static_cast<int>(frames.size())) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const StageRun<Space::device>& frame = frames[i];
            require_aligned(stage, frame.input.data, frame.input.pitch);
            require_aligned(stage, frame.output.data, frame.output.pitch);
            for (const DeviceView& image : frame.context.also)
                require_aligned(stage, image.data, image.pitch);
            inputs[i] = frame.input.data;
            outputs[i] = frame.output.data;
            counts[i] = frame.context.counts;
        }
    }

#ifdef __CUDACC__
    __device__ const std::byte* input() const { return inputs[blockIdx.z]; }
    __device__ std::byte* output() const { return outputs[blockIdx.z]; }
#endif

private:
    static void require_aligned(std::string_view stage, const std::byte* data, std::size_t pitch) {
        if ((reinterpret_cast<std::uintptr_t>(data) | pitch) % 16 != 0)
            throw DeviceError("stage " + std::string(stage) +
                              ": rows of device images must start on 16 bytes.");
    }
};

} // namespace specklescope::cuda
