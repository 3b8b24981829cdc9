// Two passes over cached values: counts, minimum, maximum and mean, then squares about that mean. Compiled
// for every instruction set (Highway).
#include "pipeline/regions/region_sums.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pipeline/regions/simd/region_values.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Reals = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using HalfReals = hn::Rebind<float, Doubles>;

/// True for finite values: only for NaN and ±∞ is the difference from itself not 0.
template <class D, class V> auto finite(D, V v) { return hn::Eq(hn::Sub(v, v), hn::Zero(D())); }

/// Calls f(vector) for all values, two vectors at a time if possible, each with its own sum. The last vector
/// is padded with NaN, which every sum ignores.
template <class D, class F> void over(D d, const float* values, std::size_t count, F&& f) {
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
        f(hn::LoadU(d, values + i), 0);
        f(hn::LoadU(d, values + i + lanes), 1);
    }
    for (; i < count; i += lanes) {
        HWY_ALIGN float rest[hn::MaxLanes(D())];
        for (std::size_t k = 0; k < lanes; ++k)
            rest[k] = i + k < count ? values[i + k] : std::numeric_limits<float>::quiet_NaN();
        f(hn::Load(d, rest), 0);
    }
}

struct Counts {
    std::uint32_t valid, undefined;
    float min, max;
};

Counts CountsOf(const float* values, std::size_t count) {
    const Reals d;
    const auto none = hn::Set(d, INFINITY);
    auto min0 = none, min1 = none, max0 = hn::Neg(none), max1 = max0;
    std::size_t valid = 0, numbers = 0;
    over(d, values, count, [&](auto v, int which) {
        const auto ok = finite(d, v);
        valid += hn::CountTrue(d, ok);
        numbers += hn::CountTrue(d, hn::Eq(v, v));
        auto& min = which == 0 ? min0 : min1;
        auto& max = which == 0 ? max0 : max1;
        min = hn::Min(min, hn::IfThenElse(ok, v, none));
        max = hn::Max(max, hn::IfThenElse(ok, v, hn::Neg(none)));
    });
    return {static_cast<std::uint32_t>(valid), static_cast<std::uint32_t>(count - numbers),
            hn::GetLane(hn::MinOfLanes(d, hn::Min(min0, min1))),
            hn::GetLane(hn::MaxOfLanes(d, hn::Max(max0, max1)))};
}

/// Σ of(v) in float64; `of` must return 0 for values that are not finite.
template <class Of> double sum_of(const float* values, std::size_t count, Of&& of) {
    const Doubles d;
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
    over(HalfReals(), values, count, [&](auto v, int which) {
        auto& sum = which == 0 ? sum0 : sum1;
        sum = hn::Add(sum, of(v));
    });
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

RegionSums SumsOf(const float* values, std::size_t count, bool inverses) {
    const Doubles d;
    const Counts counts = CountsOf(values, count);
    RegionSums sums;
    sums.valid = counts.valid;
    sums.undefined = counts.undefined;
    sums.infinite = static_cast<std::uint32_t>(count) - counts.valid - counts.undefined;
    const HalfReals half;
    if (inverses)
        sums.inverses = sum_of(values, count, [&](auto v) {
            const auto inverse = hn::IfThenElseZero(finite(half, v), hn::Div(hn::Set(half, 1.0F), v));
            return hn::PromoteTo(d, inverse);
        });
    if (counts.valid == 0)
        return sums;
    sums.min = counts.min;
    sums.max = counts.max;
    sums.mean = sum_of(values, count,
                       [&](auto v) { return hn::PromoteTo(d, hn::IfThenElseZero(finite(half, v), v)); }) /
                counts.valid;
    const auto mean = hn::Set(d, sums.mean);
    sums.squares = sum_of(values, count, [&](auto v) {
        const auto wide = hn::PromoteTo(d, v);
        const auto off = hn::IfThenElseZero(finite(d, wide), hn::Sub(wide, mean));
        return hn::Mul(off, off);
    });
    return sums;
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(SumsOf);

RegionSums sums_of(const float* values, std::size_t count, bool inverses) {
    return HWY_DYNAMIC_DISPATCH(SumsOf)(values, count, inverses);
}

} // namespace specklescope
#endif
