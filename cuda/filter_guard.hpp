// Filter work that is done only for frames that need it, without the host waiting. Inside cuda/ only.
#pragma once

#include "pipeline/frame.hpp"

namespace specklescope::cuda {

/// In device memory, written before the kernels that read it.
struct FilterGuard {
    PixelCounts found; ///< undefined and infinite results of the plain filter
    float offset;      ///< common_offset()
};

#ifdef __CUDACC__
/// True if a kernel has nothing to do. The same for all threads.
__device__ inline bool skipped(const FilterGuard* guard) {
    return guard && guard->found.undefined == 0 && guard->found.infinite == 0;
}
#endif

} // namespace specklescope::cuda
