// Windows that saw a sample at full scale in one of several frames, where results are averaged later. For .cu
// files only.
#pragma once

#include "cuda/history_memory.hpp"

namespace specklescope::cuda {

class SpeckleAges {
public:
    SpeckleAges() = default;
    SpeckleAges(const Shape& input, int frames)
        : frames_(frames), tiles_(Tiles::of(input)), memory_(tiles_) {}

    bool counts() const { return frames_ > 1; }
    void reset() { fresh_ = true; }

    struct Window {
        int radius = 1, offset = 0; ///< offset: pixel of the input under the first result
    };
    /// Takes the frame in and counts.
    void run(ConstDeviceView input, const Shape& output, const Window& window,
             const RunContext<Space::device>& context);

private:
    int frames_ = 1;
    Tiles tiles_;
    AgesMemory memory_;
    bool fresh_ = true; ///< nothing is held
};

} // namespace specklescope::cuda
