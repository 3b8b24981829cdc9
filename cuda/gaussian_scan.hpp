// States between the blocks of all lines of an axis. Inside cuda/ only.
#pragma once

#include "cuda/gaussian_blocks.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace specklescope::cuda {

struct ScanArgs {
    float* states;
    int lines;
    /// A line's first and last sample, at line % group · step + line / group of these.
    const void* first;
    const void* last;
    int group;
    std::int64_t step;
};

void launch_scan(const ScanArgs& args, const LineFilter& filter, PixelType type, cudaStream_t stream);

} // namespace specklescope::cuda
