// Two passes over values that the nearest cache holds: counts, ends and mean, then squares about that mean.
// Compiled once for every instruction set (Highway).
#include "pipeline/regions/simd/region_values.hpp"

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

/// The last vector is filled up with NaN, which every sum leaves out.
template <class F> void over_doubles(const float* values, std::size_t count, F&& add) {
    const HalfReals half;
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        add(hn::PromoteTo(d, hn::LoadU(half, values + i)));
    if (i < count) {
        HWY_ALIGN float rest[hn::MaxLanes(Doubles())];
        for (std::size_t k = 0; k < lanes; ++k)
            rest[k] = i + k < count ? values[i + k] : std::numeric_limits<float>::quiet_NaN();
        add(hn::PromoteTo(d, hn::Load(half, rest)));
    }
}

/// NaN and ±∞ are no numbers: their difference from themselves is not 0.
template <class D, class V> auto finite(D, V v) { return hn::Eq(hn::Sub(v, v), hn::Zero(D())); }

struct Counts {
    std::uint32_t valid, undefined;
    float min, max;
};

Counts CountsOf(const float* values, std::size_t count) {
    Counts counts{0, 0, INFINITY, -INFINITY};
    for (std::size_t i = 0; i < count; ++i) { // plain: the compiler makes vectors of it
        const float v = values[i];
        const bool is_finite = v - v == 0;
        counts.valid += is_finite ? 1U : 0U;
        counts.undefined += v != v ? 1U : 0U;
        const float low = is_finite ? v : INFINITY, high = is_finite ? v : -INFINITY;
        counts.min = low < counts.min ? low : counts.min;
        counts.max = high > counts.max ? high : counts.max;
    }
    return counts;
}

double InversesOf(const float* values, std::size_t count) {
    const HalfReals half;
    const Doubles d;
    auto sum0 = hn::Zero(d);
    const std::size_t lanes = hn::Lanes(d);
    const auto add = [&](auto v) {
        const auto inverse = hn::IfThenElseZero(finite(half, v), hn::Div(hn::Set(half, 1.0F), v));
        sum0 = hn::Add(sum0, hn::PromoteTo(d, inverse));
    };
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        add(hn::LoadU(half, values + i));
    if (i < count) {
        HWY_ALIGN float rest[hn::MaxLanes(Doubles())];
        for (std::size_t k = 0; k < lanes; ++k)
            rest[k] = i + k < count ? values[i + k] : std::numeric_limits<float>::quiet_NaN();
        add(hn::Load(half, rest));
    }
    return hn::GetLane(hn::SumOfLanes(d, sum0));
}

RegionSums SumsOf(const float* values, std::size_t count, bool inverses) {
    const Doubles d;
    const Counts counts = CountsOf(values, count);
    RegionSums sums;
    sums.valid = counts.valid;
    sums.undefined = counts.undefined;
    sums.infinite = static_cast<std::uint32_t>(count) - counts.valid - counts.undefined;
    if (inverses)
        sums.inverses = InversesOf(values, count);
    if (counts.valid == 0)
        return sums;
    sums.min = counts.min;
    sums.max = counts.max;
    auto sum = hn::Zero(d);
    over_doubles(values, count, [&](auto v) { sum = hn::Add(sum, hn::IfThenElseZero(finite(d, v), v)); });
    sums.mean = hn::GetLane(hn::SumOfLanes(d, sum)) / counts.valid;
    const auto mean = hn::Set(d, sums.mean);
    auto squares = hn::Zero(d);
    over_doubles(values, count, [&](auto v) {
        const auto off = hn::IfThenElseZero(finite(d, v), hn::Sub(v, mean));
        squares = hn::MulAdd(off, off, squares);
    });
    sums.squares = hn::GetLane(hn::SumOfLanes(d, squares));
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
