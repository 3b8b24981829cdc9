// The recursive Gaussian in registers: kVectors vectors of independent lines.
#if defined(SPECKLESCOPE_GAUSSIAN_FILTER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_FILTER_INL
#undef SPECKLESCOPE_GAUSSIAN_FILTER_INL
#else
#define SPECKLESCOPE_GAUSSIAN_FILTER_INL
#endif

#include <hwy/highway.h>

#include "stages/gaussian.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// gaussian.hpp, RecursiveGaussian: w, d, e of every line.
template <int kVectors> class FilterState {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;

public:
    explicit FilterState(const RecursiveGaussian& filter)
        : gain_(hn::Set(D(), static_cast<float>(filter.gain))),
          slope_(hn::Set(D(), static_cast<float>(filter.slope))),
          curve_(hn::Set(D(), static_cast<float>(filter.curve))) {
        for (int v = 0; v < kVectors; ++v)
            w_[v] = d_[v] = e_[v] = hn::Zero(D());
    }

    /// As if line `v` had been `x` always.
    HWY_INLINE void settle(int v, V x) {
        w_[v] = x;
        d_[v] = e_[v] = hn::Zero(D());
    }

    HWY_INLINE V step(int v, V x) {
        const V gained = hn::NegMulAdd(slope_, d_[v], hn::Mul(curve_, e_[v]));
        e_[v] = hn::MulAdd(gain_, hn::Sub(x, w_[v]), gained);
        d_[v] = hn::Add(d_[v], e_[v]);
        return w_[v] = hn::Add(w_[v], d_[v]);
    }

    /// From the end of the forward pass to the start of the backward pass, line `v` being `x` from there on.
    HWY_INLINE void turn(int v, V x, const RecursiveGaussian& filter) {
        const V s[3] = {hn::Sub(w_[v], x), d_[v], e_[v]};
        V out[3];
        for (int i = 0; i < 3; ++i) {
            out[i] = hn::Zero(D());
            for (int j = 0; j < 3; ++j)
                out[i] = hn::MulAdd(hn::Set(D(), static_cast<float>(filter.turn[i][j])), s[j], out[i]);
        }
        w_[v] = hn::Add(x, out[0]);
        d_[v] = out[1];
        e_[v] = out[2];
    }

private:
    V gain_, slope_, curve_;
    V w_[kVectors], d_[kVectors], e_[kVectors];
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
