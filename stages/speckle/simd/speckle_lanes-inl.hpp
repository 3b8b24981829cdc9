// Lane operations for the speckle loops that Highway lacks: halves on every target, division.
#if defined(SPECKLESCOPE_SPECKLE_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_LANES_INL
#undef SPECKLESCOPE_SPECKLE_LANES_INL
#else
#define SPECKLESCOPE_SPECKLE_LANES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// For the one-lane target, which lacks these; its upper half is never used.
#if HWY_TARGET == HWY_SCALAR
template <class D, class V> HWY_INLINE V upper_half(D, V v) { return v; }
template <class D, class V> HWY_INLINE V combine(D, V, V lower) { return lower; }
#else
template <class D, class V> HWY_INLINE auto upper_half(D d, V v) { return hn::UpperHalf(d, v); }
template <class D, class V> HWY_INLINE auto combine(D d, V upper, V lower) {
    return hn::Combine(d, upper, lower);
}
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
/// Highway 1.0 clamps to the largest float in these targets, but +∞ must stay +∞.
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

/// a/b in f32. Dividing 16 lanes at once is not faster than two halves, and on some processors half as fast.
template <class V> HWY_INLINE V divide(V a, V b) {
    const hn::DFromV<V> d;
    if constexpr (hn::MaxLanes(d) < 16) {
        return hn::Div(a, b);
    } else {
        const hn::Half<decltype(d)> half;
        return combine(d, hn::Div(upper_half(half, a), upper_half(half, b)),
                       hn::Div(hn::LowerHalf(half, a), hn::LowerHalf(half, b)));
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
