// Windows with a sample at full scale in one of several frames, for results that are averaged later. For .cu
// files only.
#pragma once

#include "cuda/frames.hpp"
#include "cuda/history.cuh"

namespace specklescope::cuda {

/// Samples that were at full scale within the window over time. Bit f belongs to frame f. A tile has the bits
/// of all its samples; the samples of a tile without bits are undefined.
struct ActiveSamples {
    std::uint16_t* samples;
    std::uint16_t* tiles;
};

class SpeckleAges {
public:
    SpeckleAges() = default;
    SpeckleAges(const Shape& input, int frames)
        : frames_(frames), tiles_(Tiles::of(input)), memory_(tiles_),
          samples_(tiles_.samples() * sizeof(std::uint16_t), device_memory()),
          of_tiles_(static_cast<std::size_t>(tiles_.count) * sizeof(std::uint16_t), device_memory()) {}

    bool counts() const { return frames_ > 1; }
    void reset() { fresh_ = true; }

    struct Window {
        int radius = 1, offset = 0; ///< offset: input pixel of the first result
    };
    /// Adds the frames and counts. `addresses`: of the same frames.
    void run(DeviceRuns frames, const FrameAddresses& addresses, const Window& window);

private:
    int frames_ = 1;
    Tiles tiles_;
    AgesMemory memory_;
    Buffer samples_, of_tiles_; ///< ActiveSamples
    bool fresh_ = true;         ///< nothing is stored yet
};

} // namespace specklescope::cuda
