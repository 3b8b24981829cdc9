// Conversion of pixels of any type to f32 vectors, and back with rounding to nearest, ties to even.
#if defined(SPECKLESCOPE_GAUSSIAN_PIXELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_PIXELS_INL
#undef SPECKLESCOPE_GAUSSIAN_PIXELS_INL
#else
#define SPECKLESCOPE_GAUSSIAN_PIXELS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// v + 1.5·2²³ for |v| < 2²²: the low bits are v rounded to nearest, ties to even, in two's complement.
/// Highway's NearestInt needs four more operations for values that overflow.
template <class D> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> rounded_bits(D d, hn::Vec<D> v) {
    return hn::BitCast(hn::RebindToSigned<D>(), hn::Add(v, hn::Set(d, 12582912.0F)));
}
/// The same without the upper bits.
template <class D> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> rounded(D d, hn::Vec<D> v) {
    return hn::Sub(rounded_bits(d, v), hn::Set(hn::RebindToSigned<D>(), 0x4b400000));
}

/// D is a tag of f32.
template <class D, class T> HWY_INLINE hn::Vec<D> load_pixels(D d, const T* from) {
    if constexpr (std::is_same_v<T, float>) {
        return hn::LoadU(d, from);
    } else {
        const hn::Rebind<std::int32_t, D> wide;
        return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(hn::Rebind<T, D>(), from)));
    }
}

template <class D, class T> HWY_INLINE void store_pixels(D d, hn::Vec<D> v, T* to) {
    if constexpr (std::is_same_v<T, float>) {
        hn::StoreU(v, d, to);
    } else {
        const hn::Rebind<T, D> narrow;
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(v)), narrow, to);
    }
}

/// Stores the first `count` lanes of a vector.
template <class D, class T> HWY_INLINE void store_some(D d, hn::Vec<D> v, T* to, int count) {
    if (hn::MaxLanes(d) == 1)
        return store_pixels(d, v, to);
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    store_pixels(d, v, lanes);
    std::copy_n(lanes, count, to);
}

/// Other lanes are 0.
template <class D> HWY_INLINE hn::Vec<D> load_some(D d, const float* from, int count) {
    if (hn::MaxLanes(d) == 1 || count == static_cast<int>(hn::MaxLanes(d)))
        return hn::LoadU(d, from);
    HWY_ALIGN float lanes[hn::MaxLanes(d)] = {};
    std::copy_n(from, count, lanes);
    return hn::Load(d, lanes);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
