// Results from the window sums of u8 or u16, a vector of outputs at a time.
#if defined(SPECKLESCOPE_SPECKLE_WINDOW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_SPECKLE_WINDOW_INL
#undef SPECKLESCOPE_SPECKLE_WINDOW_INL
#else
#define SPECKLESCOPE_SPECKLE_WINDOW_INL
#endif

#include <hwy/highway.h>

#include "stages/speckle/simd/speckle_lanes-inl.hpp"
#include "stages/speckle/simd/speckle_tile.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Value from S = ΣI and D = N·Q − S², in f32 lanes. IEEE division gives 0/0 = NaN and S²/0 = +∞.
template <SpeckleParams::Output kOutput, class V> HWY_INLINE V speckle_value(V sum, V determinant, V scale) {
    using Output = SpeckleParams::Output;
    if constexpr (kOutput == Output::sfi || kOutput == Output::bfi)
        return divide(hn::Mul(hn::Mul(sum, scale), sum), determinant);
    const V squared = divide(hn::Mul(determinant, scale), hn::Mul(sum, sum));
    return kOutput == Output::contrast ? hn::Sqrt(squared) : squared;
}

/// Square: sums of squares, u32 (narrow sums) or u64 (wide sums).
template <class Square> struct WindowMath {
    static constexpr bool kWide = sizeof(Square) == 8;
    using Sum = std::uint32_t;
    using D32 = hn::ScalableTag<Sum>;
    using DF = hn::Rebind<float, D32>;
    using DFHalf = hn::Half<DF>;
    using D64 = hn::Rebind<double, DFHalf>;
    using DU64 = hn::Rebind<std::uint64_t, D64>;
    using DI32 = hn::Rebind<std::int32_t, D32>;
    using DI32Half = hn::Half<DI32>;
    using DU32Half = hn::Half<D32>;
    using DSquare = std::conditional_t<kWide, DU64, D32>;
    using V32 = hn::Vec<D32>;
    using VSquare = hn::Vec<DSquare>;
    static constexpr std::size_t kLanes = hn::MaxLanes(D32());
    static constexpr std::size_t kSquareLanes = hn::MaxLanes(DSquare());

    using VF = hn::Vec<DF>;

    /// Window sums of a vector of outputs: S, and Q in one vector or in two halves.
    struct Windows {
        V32 sum;
        VSquare square[kWide && kLanes > kSquareLanes ? 2 : 1];
    };

    /// Kept in registers: the compiler cannot know that no store changes the tile.
    struct Constants {
        V32 offset;
        VF scale, n;
    };

    template <SpeckleParams::Output kOutput>
    static HWY_INLINE VF value(const Windows& w, const Constants& c) {
        const VF intensity = hn::ConvertTo(DF(), hn::BitCast(DI32(), hn::Add(w.sum, c.offset)));
        return speckle_value<kOutput>(intensity, determinant(w, c.n), c.scale);
    }

    /// S and D as value() uses them.
    static HWY_INLINE void store_sums(const Windows& w, const Constants& c, float* s, float* d) {
        hn::StoreU(hn::ConvertTo(DF(), hn::BitCast(DI32(), hn::Add(w.sum, c.offset))), DF(), s);
        hn::StoreU(determinant(w, c.n), DF(), d);
    }
    /// Exact.
    static HWY_INLINE void store_sums(const Windows& w, const Constants& c, double* s, double* d) {
        const DI32Half half;
        const D64 d64;
        const auto sum = hn::BitCast(DI32(), hn::Add(w.sum, c.offset));
        const auto moved = hn::BitCast(DI32(), w.sum);
        const auto samples = hn::PromoteTo(d64, hn::LowerHalf(DFHalf(), c.n));
        hn::StoreU(hn::PromoteTo(d64, hn::LowerHalf(half, sum)), d64, s);
        hn::StoreU(determinant_half(lower_squares(w), hn::LowerHalf(half, moved), samples), d64, d);
        if constexpr (constexpr std::size_t kHalf = hn::MaxLanes(D64()); kLanes > kHalf) {
            hn::StoreU(hn::PromoteTo(d64, upper_half(half, sum)), d64, s + kHalf);
            hn::StoreU(determinant_half(upper_squares(w), upper_half(half, moved), samples), d64, d + kHalf);
        }
    }

    static HWY_INLINE VF determinant(const Windows& w, VF n) {
        if constexpr (kWide)
            return wide_determinant(w, n);
        else
            return narrow_determinant(w, n);
    }

#if HWY_NATIVE_FMA
    /// In f32, exact through fused products: |S| < 2²¹ (narrow sums), p + e = S², Q = 4096·a + b, and
    ///   D = (4096·N·a − p) + (N·b − e).
    /// The brackets are integers: exact below 2²⁴; where they are larger D is too, so that nothing cancels.
    static HWY_INLINE VF narrow_determinant(const Windows& w, VF n) {
        const DF df;
        const D32 d;
        const DI32 di;
        const auto s = hn::ConvertTo(df, hn::BitCast(di, w.sum));
        const auto p = hn::Mul(s, s);
        const auto e = hn::MulSub(s, s, p);
        const V32 q = w.square[0];
        const auto high = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<12>(q)));
        const auto low = hn::ConvertTo(df, hn::BitCast(di, hn::And(q, hn::Set(d, 4095U))));
        return hn::Add(hn::MulSub(high, hn::Mul(n, hn::Set(df, 4096.0F)), p), hn::MulSub(low, n, e));
    }
#else
    static HWY_INLINE VF narrow_determinant(const Windows& w, VF n) { return wide_determinant(w, n); }
#endif

    static HWY_INLINE VF wide_determinant(const Windows& w, VF n) {
        const DI32Half half;
        const DFHalf df;
        const auto s = hn::BitCast(DI32(), w.sum);
        const auto samples = hn::PromoteTo(D64(), hn::LowerHalf(df, n));
        const auto upper = determinant_half(upper_squares(w), upper_half(half, s), samples);
        const auto lower = determinant_half(lower_squares(w), hn::LowerHalf(half, s), samples);
        return combine(DF(), narrow_floats(df, upper), narrow_floats(df, lower));
    }

    static HWY_INLINE hn::Vec<DU64> lower_squares(const Windows& w) {
        if constexpr (kWide)
            return w.square[0];
        else
            return hn::PromoteTo(DU64(), hn::LowerHalf(DU32Half(), w.square[0]));
    }
    static HWY_INLINE hn::Vec<DU64> upper_squares(const Windows& w) {
        if constexpr (kWide)
            return w.square[kLanes > kSquareLanes ? 1 : 0];
        else
            return hn::PromoteTo(DU64(), upper_half(DU32Half(), w.square[0]));
    }

    /// D of half a vector, exact in double: all values are below 2⁵³.
    static HWY_INLINE hn::Vec<D64> determinant_half(hn::Vec<DU64> q, hn::Vec<DI32Half> sum, hn::Vec<D64> n) {
        const DU64 du;
        const D64 d;
        // Converts an integer below 2⁵² to double, as the fraction of 2⁵².
        const auto biased = hn::BitCast(d, hn::Or(q, hn::Set(du, std::uint64_t{0x433} << 52)));
        const auto squares = hn::Sub(biased, hn::Set(d, 0x1p52));
        const auto s = hn::PromoteTo(d, sum);
        return hn::MulSub(squares, n, hn::Mul(s, s));
    }
};

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
