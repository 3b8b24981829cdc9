// Transposes rows to lanes and back in 32-bit words: vector j contains word j of every row, lane i is row i.
#if defined(SPECKLESCOPE_GAUSSIAN_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_GAUSSIAN_TRANSPOSE_INL
#undef SPECKLESCOPE_GAUSSIAN_TRANSPOSE_INL
#else
#define SPECKLESCOPE_GAUSSIAN_TRANSPOSE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Four words of as many rows as a vector has lanes.
using Words = hn::Vec<hn::ScalableTag<float>>[4];

#if HWY_TARGET == HWY_SCALAR
inline void load_words(const float* rows, std::size_t, Words& v) {
    for (std::size_t j = 0; j < 4; ++j)
        v[j] = hn::LoadU(hn::ScalableTag<float>(), rows + j);
}
inline void store_words(const Words& v, float* rows, std::size_t) {
    for (std::size_t j = 0; j < 4; ++j)
        hn::StoreU(v[j], hn::ScalableTag<float>(), rows + j);
}
#else

/// Blocks of four words, of every fourth row.
template <class D> HWY_INLINE hn::Vec<D> load_blocks(D d, const float* rows, std::size_t stride) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, rows);
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, load_blocks(half, rows + hn::MaxLanes(half) * stride, stride),
                           load_blocks(half, rows, stride));
    }
}

template <class D> HWY_INLINE void store_blocks(D d, hn::Vec<D> v, float* rows, std::size_t stride) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        hn::StoreU(v, d, rows);
    } else {
        const hn::Half<D> half;
        store_blocks(half, hn::LowerHalf(half, v), rows, stride);
        store_blocks(half, hn::UpperHalf(half, v), rows + hn::MaxLanes(half) * stride, stride);
    }
}

/// Transposes every block of four lanes; its own inverse.
HWY_INLINE void transpose_blocks(Words& v) {
    const hn::ScalableTag<float> d;
    const auto even_low = hn::InterleaveLower(d, v[0], v[2]);
    const auto odd_low = hn::InterleaveLower(d, v[1], v[3]);
    const auto even_high = hn::InterleaveUpper(d, v[0], v[2]);
    const auto odd_high = hn::InterleaveUpper(d, v[1], v[3]);
    v[0] = hn::InterleaveLower(d, even_low, odd_low);
    v[1] = hn::InterleaveUpper(d, even_low, odd_low);
    v[2] = hn::InterleaveLower(d, even_high, odd_high);
    v[3] = hn::InterleaveUpper(d, even_high, odd_high);
}

/// Rows `stride` words apart.
HWY_INLINE void load_words(const float* rows, std::size_t stride, Words& v) {
    for (std::size_t k = 0; k < 4; ++k)
        v[k] = load_blocks(hn::ScalableTag<float>(), rows + k * stride, stride);
    transpose_blocks(v);
}

HWY_INLINE void store_words(Words& v, float* rows, std::size_t stride) {
    transpose_blocks(v);
    for (std::size_t k = 0; k < 4; ++k)
        store_blocks(hn::ScalableTag<float>(), v[k], rows + k * stride, stride);
}
#endif

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
