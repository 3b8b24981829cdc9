// The recursive Gaussian in registers: kVectors vectors of independent lines.
#if defined(SPECKLESCOPE_GAUSSIAN_FILTER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_FILTER_INL
#undef SPECKLESCOPE_GAUSSIAN_FILTER_INL
#else
#define SPECKLESCOPE_GAUSSIAN_FILTER_INL
#endif

#include <hwy/highway.h>

#include "stages/gaussian/gaussian.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// State w, d, e of every line (gaussian.hpp, RecursiveGaussian). As defined there, each step depends on four
/// earlier operations. With d and w + d delayed by one step,
///   e ← gain·(x − (w + d)) − slope·d + (curve − slope − gain)·e,
/// it depends on two.
template <int kVectors> class FilterState {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;

public:
    explicit FilterState(const RecursiveGaussian& filter)
        : gain_(hn::Set(D(), static_cast<float>(filter.gain))),
          slope_(hn::Set(D(), static_cast<float>(filter.slope))),
          carry_(hn::Set(D(), static_cast<float>(filter.curve - filter.slope - filter.gain))) {
        for (int v = 0; v < kVectors; ++v)
            settle(v, hn::Zero(D()));
    }

    /// Sets the state of a constant line `x` for line `v`.
    HWY_INLINE void settle(int v, V x) { set(v, x, hn::Zero(D()), hn::Zero(D())); }

    HWY_INLINE V step(int v, V x) {
        const V pull = hn::MulSub(gain_, hn::Sub(x, sum_[v]), hn::Mul(slope_, d_[v]));
        const V before = hn::Add(sum_[v], e_[v]);
        d_[v] = hn::Add(d_[v], e_[v]);
        e_[v] = hn::MulAdd(carry_, e_[v], pull);
        sum_[v] = hn::Add(before, d_[v]);
        return hn::Add(sum_[v], e_[v]);
    }

    /// From the end of the forward pass to the start of the backward pass, if line `v` is `x` from there on.
    HWY_INLINE void begin_backward(int v, V x, const RecursiveGaussian& filter) {
        const V s[3] = {hn::Sub(hn::Add(sum_[v], e_[v]), x), hn::Add(d_[v], e_[v]), e_[v]};
        V out[3];
        for (int i = 0; i < 3; ++i) {
            out[i] = hn::Zero(D());
            for (int j = 0; j < 3; ++j)
                out[i] =
                    hn::MulAdd(hn::Set(D(), static_cast<float>(filter.backward_start[i][j])), s[j], out[i]);
        }
        set(v, hn::Add(x, out[0]), out[1], out[2]);
    }

private:
    HWY_INLINE void set(int v, V w, V d, V e) {
        e_[v] = e;
        d_[v] = hn::Sub(d, e);
        sum_[v] = hn::Sub(w, e);
    }

    V gain_, slope_, carry_;
    V e_[kVectors];
    V d_[kVectors], sum_[kVectors]; ///< d and w + d, delayed by one step
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
