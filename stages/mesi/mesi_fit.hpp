// Data of the multi-exposure fit, and its arithmetic for one pixel (device, tests).
#pragma once

#include "base/host_device.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace specklescope {

/// Memory for the newest K² of each exposure: at most 64 bytes a pixel.
inline constexpr int kMesiExposures = 16;

/// Fitted besides 1/τc and the dynamic part ρ.
enum class MesiFree : std::uint8_t { none, noise, beta };
constexpr bool frees_beta(MesiFree free) { return free == MesiFree::beta; }
constexpr bool frees_noise(MesiFree free) { return free == MesiFree::noise; }
constexpr int fitted(MesiFree free) { return free == MesiFree::none ? 2 : 3; }

/// A start of the fit. The best one has the largest Σ weights·K² − offset.
struct MesiStart {
    float rate, rho; ///< 1/τc in 1/ms
    float scale;     ///< β is the sum times this, if it is fitted
    float mean;      ///< of the model for β = 1: ν is the mean of K² − β·mean, if it is fitted
    float offset;
    float weights[kMesiExposures];
};

/// The same for all pixels; a kernel's argument.
struct MesiTask {
    static constexpr int kStarts = 64;
    int count = 0;                        ///< exposures
    int iterations = 20;                  ///< at most
    float beta = 1, noise = 0;            ///< if not fitted
    float slowest = 0, fastest = 0;       ///< range of 1/τc in 1/ms; no fit ends beyond it
    float exposures[kMesiExposures] = {}; ///< ms
    float inverses[kMesiExposures] = {};  ///< 1/ms
    MesiStart starts[kStarts] = {};
};

template <class V> struct MesiFit {
    V rate; ///< 1/τc in 1/ms; this and the next five: NaN if the fit did not converge
    V rho, beta, noise;
    V residual; ///< root mean square of K² − model
    V error;    ///< half of the 68 % interval of `rate`; NaN with as many samples as parameters
    V iterations, used;
};

/// Arithmetic of MesiSolver for one pixel.
struct MesiScalar {
    using V = float;
    using M = bool;
    SPECKLESCOPE_BOTH static V set(float v) { return v; }
    SPECKLESCOPE_BOTH static V mul(V a, V b) { return product(a, b); }
    SPECKLESCOPE_BOTH static V add(V a, V b) { return sum(a, b); }
    SPECKLESCOPE_BOTH static V sub(V a, V b) { return sum(a, -b); }
    SPECKLESCOPE_BOTH static V div(V a, V b) { return product(a, inverse(b)); }
    /// 1/a, rounded once for normal numbers.
    SPECKLESCOPE_BOTH static V inverse(V a) {
#ifdef __CUDA_ARCH__
        float r;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
        return fmaf(r, fmaf(-a, r, 1.0F), r);
#else
        return 1.0F / a;
#endif
    }
    SPECKLESCOPE_BOTH static V root(V a) {
#ifdef __CUDA_ARCH__
        return __fsqrt_rn(a);
#else
        return std::sqrt(a);
#endif
    }
    /// a·b + c, rounded once.
    SPECKLESCOPE_BOTH static V fma(V a, V b, V c) { return fmaf(a, b, c); }
    /// c − a·b, rounded once.
    SPECKLESCOPE_BOTH static V less_product(V c, V a, V b) { return fmaf(-a, b, c); }
    SPECKLESCOPE_BOTH static V magnitude(V a) { return fabsf(a); }
    SPECKLESCOPE_BOTH static V smaller(V a, V b) { return a < b ? a : b; }
    SPECKLESCOPE_BOTH static V larger(V a, V b) { return a > b ? a : b; }
    /// a·2^n for the whole number n in the last bits of `whole`.
    SPECKLESCOPE_BOTH static V scaled(V a, V whole) {
#ifdef __CUDA_ARCH__
        return __int_as_float(__float_as_int(a) + (__float_as_int(whole) << 23));
#else
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) +
                                    (std::bit_cast<std::uint32_t>(whole) << 23));
#endif
    }
    SPECKLESCOPE_BOTH static M less(V a, V b) { return a < b; }
    SPECKLESCOPE_BOTH static M defined(V a) { return a == a; }
    SPECKLESCOPE_BOTH static M both(M a, M b) { return a && b; }
    SPECKLESCOPE_BOTH static M either(M a, M b) { return a || b; }
    SPECKLESCOPE_BOTH static M without(M a, M b) { return a && !b; }
    SPECKLESCOPE_BOTH static V select(M mask, V yes, V no) { return mask ? yes : no; }
    SPECKLESCOPE_BOTH static bool any(M mask) { return mask; }
};

#include "stages/mesi/mesi_solver-inl.hpp"

/// Task for `count` exposures in ms. Computed in double.
MesiTask mesi_task(MesiFree free, double beta, double noise, int iterations, const double* exposures_ms,
                   int count);

} // namespace specklescope
