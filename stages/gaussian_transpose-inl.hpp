// Rows to lanes and back, four columns at a time: vector j holds column j, lane i row i.
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

#if HWY_TARGET == HWY_SCALAR
/// One row is one lane.
inline void rows_to_lanes(const float* rows, std::size_t, float* lanes, std::size_t step) {
    for (std::size_t j = 0; j < 4; ++j)
        lanes[j * step] = rows[j];
}
inline void lanes_to_rows(const float* lanes, std::size_t step, float* rows, std::size_t) {
    for (std::size_t j = 0; j < 4; ++j)
        rows[j] = lanes[j * step];
}
#else

/// Blocks of four samples, every fourth row.
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

/// Within every block of four lanes.
template <class D, class V> HWY_INLINE void transpose_blocks(D d, V (&v)[4]) {
    const V even_low = hn::InterleaveLower(d, v[0], v[2]);
    const V odd_low = hn::InterleaveLower(d, v[1], v[3]);
    const V even_high = hn::InterleaveUpper(d, v[0], v[2]);
    const V odd_high = hn::InterleaveUpper(d, v[1], v[3]);
    v[0] = hn::InterleaveLower(d, even_low, odd_low);
    v[1] = hn::InterleaveUpper(d, even_low, odd_low);
    v[2] = hn::InterleaveLower(d, even_high, odd_high);
    v[3] = hn::InterleaveUpper(d, even_high, odd_high);
}

/// Rows `stride` samples apart, as many as a vector has lanes; vectors `step` samples apart.
HWY_INLINE void rows_to_lanes(const float* rows, std::size_t stride, float* lanes, std::size_t step) {
    const hn::ScalableTag<float> d;
    hn::Vec<decltype(d)> v[4];
    for (std::size_t k = 0; k < 4; ++k)
        v[k] = load_blocks(d, rows + k * stride, stride);
    transpose_blocks(d, v);
    for (std::size_t k = 0; k < 4; ++k)
        hn::Store(v[k], d, lanes + k * step);
}

HWY_INLINE void lanes_to_rows(const float* lanes, std::size_t step, float* rows, std::size_t stride) {
    const hn::ScalableTag<float> d;
    hn::Vec<decltype(d)> v[4];
    for (std::size_t k = 0; k < 4; ++k)
        v[k] = hn::Load(d, lanes + k * step);
    transpose_blocks(d, v);
    for (std::size_t k = 0; k < 4; ++k)
        store_blocks(d, v[k], rows + k * stride, stride);
}
#endif

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
