// States between the blocks of all lines of an axis. Inside cuda/ only.
#pragma once

#include "cuda/filter_guard.hpp"
#include "cuda/gaussian/gaussian_blocks.hpp"
#include "cuda/sequence.hpp"

namespace specklescope::cuda {

struct ScanArgs {
    float* states;
    int lines;
    const void* first; ///< every line's first sample, contiguous
    const void* last;
    const FilterGuard* guard;
};

/// Runs between two kernels of a Sequence.
void launch_scan(const ScanArgs& args, const LineScan& scan, PixelType type, const Sequence& sequence);

} // namespace specklescope::cuda
