// Lane operations that the speckle loops need beyond Highway's own: halves on every target, prefix sums in a
// vector.
#if defined(SPECKLESCOPE_SPECKLE_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_LANES_INL
#undef SPECKLESCOPE_SPECKLE_LANES_INL
#else
#define SPECKLESCOPE_SPECKLE_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What the one-lane target lacks; there the upper half is never used.
#if HWY_TARGET == HWY_SCALAR
template <int, class D, class V> HWY_INLINE V shift_up(D, V v) { return v; }
template <class D, class V> HWY_INLINE V upper_half(D, V v) { return v; }
template <class D, class V> HWY_INLINE V combine(D, V, V lower) { return lower; }
#else
template <int kCount, class D, class V> HWY_INLINE V shift_up(D d, V v) {
    return hn::ShiftLeftLanes<kCount>(d, v);
}
template <class D, class V> HWY_INLINE auto upper_half(D d, V v) { return hn::UpperHalf(d, v); }
template <class D, class V> HWY_INLINE auto combine(D d, V upper, V lower) {
    return hn::Combine(d, upper, lower);
}
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
/// Highway 1.0 clamps to the largest float in these targets: +∞ must stay +∞.
template <class D, class V> HWY_INLINE hn::Vec<D> narrow_floats(D d, V v) {
    const hn::DFromV<V> wide;
    HWY_ALIGN double from[hn::MaxLanes(wide)];
    HWY_ALIGN float to[hn::MaxLanes(d)] = {};
    hn::Store(v, wide, from);
    for (std::size_t i = 0; i < hn::Lanes(wide); ++i)
        to[i] = static_cast<float>(from[i]);
    return hn::Load(d, to);
}
#else
template <class D, class V> HWY_INLINE hn::Vec<D> narrow_floats(D d, V v) { return hn::DemoteTo(d, v); }
#endif

/// Inclusive prefix sums within a vector. Modulo 2^bits, so that differences are right wherever they fit.
template <class D> class Scan {
    using T = hn::TFromD<D>;
    using V = hn::Vec<D>;
    static constexpr std::size_t kLanes = hn::MaxLanes(D());
    static constexpr std::size_t kBlock = 16 / sizeof(T);

public:
    Scan() {
        HWY_ALIGN T last[kLanes];
        std::fill_n(last, kLanes, T{kLanes - 1});
        last_ = hn::IndicesFromVec(D(), hn::Load(D(), last));
        prepare(kBlock, index_a_, mask_a_);
        prepare(2 * kBlock, index_b_, mask_b_);
    }

    HWY_INLINE V operator()(V v) const {
        [[maybe_unused]] const D d;
        if constexpr (kLanes > 1)
            v = hn::Add(v, shift_up<1>(d, v));
        if constexpr (kLanes > 2 && kBlock > 2)
            v = hn::Add(v, shift_up<2>(d, v));
        if constexpr (kLanes > kBlock)
            v = hn::Add(v, hn::IfThenElseZero(mask_a_, hn::TableLookupLanes(v, index_a_)));
        if constexpr (kLanes > 2 * kBlock)
            v = hn::Add(v, hn::IfThenElseZero(mask_b_, hn::TableLookupLanes(v, index_b_)));
        return v;
    }
    HWY_INLINE V broadcast_last(V v) const { return hn::TableLookupLanes(v, last_); }

private:
    using Indices = decltype(hn::IndicesFromVec(D(), hn::Zero(D())));
    using Mask = hn::Mask<D>;

    /// To the odd groups of `step` lanes goes the last lane of the even group before them.
    static void prepare(std::size_t step, Indices& indices, Mask& mask) {
        HWY_ALIGN T from[kLanes];
        HWY_ALIGN T odd[kLanes];
        for (std::size_t i = 0; i < kLanes; ++i) {
            odd[i] = (i & step) != 0;
            from[i] = static_cast<T>(odd[i] ? (i & ~(step - 1)) - 1 : i);
        }
        indices = hn::IndicesFromVec(D(), hn::Load(D(), from));
        mask = hn::Ne(hn::Load(D(), odd), hn::Zero(D()));
    }

    Indices last_, index_a_, index_b_;
    Mask mask_a_, mask_b_;
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
