// Results of contrast stages from the sums of windows of integers. For .cu files only.
#pragma once

#include "stages/contrast.hpp"

namespace specklescope::cuda {

__device__ inline float fast_reciprocal(float x) { // 1 ulp; 1/0 = ∞
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ inline float fast_sqrt(float x) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/// ΣI and N·ΣI² − (ΣI)², exact until rounded to f32. D = 0 and S = 0 stay exact.
struct Moments {
    float s, d;
};

/// Four results, as contrast_value(); the form is the same for all threads and is tested once.
__device__ inline void results_of(const Moments (&m)[4], ContrastForm form, float c, float (&out)[4]) {
    if (form == ContrastForm::inverse) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
            out[j] = (m[j].s * m[j].s) * fast_reciprocal(m[j].d) * c;
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
        out[j] = m[j].d * fast_reciprocal(m[j].s * m[j].s) * c;
    if (form == ContrastForm::root) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
            out[j] = fast_sqrt(out[j]);
    }
}

} // namespace specklescope::cuda
