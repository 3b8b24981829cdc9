// Windows with a sample at full scale in one of several frames, for results that are averaged later. For .cu
// files only.
#pragma once

#include "cuda/frames.hpp"
#include "cuda/history.cuh"

namespace specklescope::cuda {

/// Where the window over time of some frames has a sample at full scale: bit f of a sample, and of a tile for
/// any of its samples, is frame f. Samples of tiles without any are undefined.
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
