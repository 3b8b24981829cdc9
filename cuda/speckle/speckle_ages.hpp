// Windows with a sample at full scale in one of several frames, for results that are averaged later. For .cu
// files only.
#pragma once

#include "cuda/history.cuh"

namespace specklescope::cuda {

class SpeckleAges {
public:
    SpeckleAges() = default;
    SpeckleAges(const Shape& input, int frames)
        : frames_(frames), tiles_(Tiles::of(input)), memory_(tiles_) {}

    bool counts() const { return frames_ > 1; }
    void reset() { fresh_ = true; }

    struct Window {
        int radius = 1, offset = 0; ///< offset: input pixel of the first result
    };
    /// Adds the frame and counts.
    void run(ConstDeviceView input, const Shape& output, const Window& window,
             const RunContext<Space::device>& context);

private:
    int frames_ = 1;
    Tiles tiles_;
    AgesMemory memory_;
    bool fresh_ = true; ///< nothing is stored yet
};

} // namespace specklescope::cuda
