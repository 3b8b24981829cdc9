// Functions that host code and kernels share.
#pragma once

#ifdef __CUDACC__
#define SPECKLESCOPE_BOTH __host__ __device__
#else
#define SPECKLESCOPE_BOTH
#endif

namespace specklescope {

// A product and a sum that are rounded once, so that host and device get the same bits: kernels do not fuse
// them, nor does the host in the rooms that CMakeLists.txt compiles with -ffp-contract=off.
SPECKLESCOPE_BOTH inline float product(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
SPECKLESCOPE_BOTH inline float sum(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

} // namespace specklescope
