// Device memory of stages with a window. For .cu files only.
#pragma once

#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "pipeline/counts.hpp"
#include "stages/history.hpp"

namespace specklescope::cuda {

/// check_history() with the free memory of the current device.
void check_device_history(std::string_view stage, int frames, const HistoryBytes& bytes);

#ifdef __CUDACC__
/// Owner of the memory of AgesOnDevice.
class AgesMemory {
public:
    AgesMemory() = default;
    explicit AgesMemory(const Tiles& tiles)
        : ages_(tiles.samples() * sizeof(std::uint16_t), device_memory()),
          of_tiles_(static_cast<std::size_t>(tiles.count) * sizeof(std::uint32_t), device_memory()) {}
    static std::size_t bytes(const Tiles& tiles) {
        return tiles.samples() * sizeof(std::uint16_t) +
               static_cast<std::size_t>(tiles.count) * sizeof(std::uint32_t);
    }
    AgesOnDevice view(int window, PixelType type, const FrameInfo& info) const {
        const std::optional<double> threshold = saturation_threshold(type, info);
        return {ages_.as<std::uint16_t>(), of_tiles_.as<std::uint32_t>(), window,
                threshold ? static_cast<float>(*threshold) : 0.0F};
    }

private:
    Buffer ages_, of_tiles_;
};
#endif

} // namespace specklescope::cuda
