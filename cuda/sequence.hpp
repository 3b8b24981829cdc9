// Sequence of kernels, each of which starts while the previous one still runs (compute capability 9.0 and
// later; on older devices it waits).
#pragma once

#include "cuda/device.hpp"

namespace specklescope::cuda {

/// In a kernel: allows the next of the sequence to start once all blocks have called it.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// In a kernel: waits until the previous one of the sequence is done and its writes are visible.
__device__ inline void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Sequence::overlaps for this kernel on the current device.
template <class... Args> bool can_overlap(void (*kernel)(Args...)) {
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, kernel), "cudaFuncGetAttributes");
    return code.ptxVersion >= 90;
}

struct Sequence {
    cudaStream_t stream = nullptr;
    bool overlaps =
        false; ///< the kernels' code includes the two functions above (cudaFuncAttributes::ptxVersion ≥ 90)

    struct Grid {
        dim3 blocks;
        unsigned threads;
    };

    /// The previous work of the stream may be of any kind.
    template <class... Args, class... Given>
    void next(const char* name, const Grid& grid, void (*kernel)(Args...), const Given&... args) const {
        cudaLaunchAttribute overlap{};
        overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        overlap.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = grid.blocks;
        config.blockDim = dim3(grid.threads);
        config.stream = stream;
        config.attrs = &overlap;
        config.numAttrs = overlaps ? 1 : 0;
        check(cudaLaunchKernelEx(&config, kernel, static_cast<Args>(args)...), name);
    }
};

} // namespace specklescope::cuda
