// Loops of spatiotemporal contrast, compiled for every instruction set (Highway); the best one of the
// processor is called.
#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/temporal/simd/temporal_row.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/temporal/simd/box_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/temporal/simd/temporal_integers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void MoveColumns(const TemporalRow* enters, const TemporalRow* leaves, const TemporalRow& ahead, int begin,
                 int count, const BoxSums& columns) {
    if (!enters && !leaves)
        return;
    double* const s = columns.s;
    double* const q = columns.q;
    constexpr int kStep = 8; // at most a cache line
    with_integer_sums(ahead, [&](const auto& sums) HWY_ATTR {
        for (int x = 0; x < count; x += kStep)
            sums.prefetch(begin + x);
    });
    with_integer_sums(enters ? *enters : *leaves, [&]<class Sums>(const Sums& first) HWY_ATTR {
        if (enters && leaves) {
            const Sums second(*leaves);
            for (int x = 0; x < count; ++x) {
                const auto more = first.at(begin + x);
                const auto less = second.at(begin + x);
                s[x] += more.s - less.s;
                q[x] += more.q - less.q;
            }
        } else {
            const double sign = enters ? 1 : -1;
            for (int x = 0; x < count; ++x) {
                const auto one = first.at(begin + x);
                s[x] += sign * one.s;
                q[x] += sign * one.q;
            }
        }
    });
}

void AddThree(const BoxSums& from, int step, int count, const BoxSums& to) {
    for (int x = 0; x < count; ++x) {
        to.s[x] = from.s[x] + from.s[x + step] + from.s[x + 2 * step];
        to.q[x] = from.q[x] + from.q[x + step] + from.q[x + 2 * step];
    }
}

/// window_moments() of every window, whose sums are those of kTerms groups.
template <int kTerms, class Real>
void sum_windows(const BoxSums* groups, int width, double n, Real* to_s, Real* to_d) {
    const hn::ScalableTag<double> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto samples = hn::Set(d, n);
    const auto part = hn::Set(d, 1 / n);
    const auto whole = hn::Set(d, 0x1.8p52); // added and subtracted: rounds to a whole number
    std::array<BoxSums, kTerms> terms;
    std::copy_n(groups, kTerms, terms.begin());
    const auto store = [&](auto v, Real* to) HWY_ATTR {
        if constexpr (std::is_same_v<Real, double>)
            hn::StoreU(v, d, to);
        else
            hn::StoreU(hn::DemoteTo(hn::Rebind<float, decltype(d)>(), v), hn::Rebind<float, decltype(d)>(),
                       to);
    };
    for (int x = 0; x < width; x += lanes) {
        auto s = hn::LoadU(d, terms[0].s + x);
        auto q = hn::LoadU(d, terms[0].q + x);
        for (std::size_t t = 1; t < kTerms; ++t) {
            s = hn::Add(s, hn::LoadU(d, terms[t].s + x));
            q = hn::Add(q, hn::LoadU(d, terms[t].q + x));
        }
        const auto mean = hn::Sub(hn::MulAdd(s, part, whole), whole);
        const auto moved = hn::NegMulAdd(samples, mean, s);
        const auto squares = hn::NegMulAdd(mean, hn::Add(s, moved), q);
        store(s, to_s + x);
        store(hn::MulSub(samples, squares, hn::Mul(moved, moved)), to_d + x);
    }
}

template <class Real> void sum_terms(std::span<const BoxSums> groups, int width, double n, Real* s, Real* d) {
    if (groups.size() == 3)
        sum_windows<3>(groups.data(), width, n, s, d);
    else
        sum_windows<WindowGroups::kMostTerms>(groups.data(), width, n, s, d);
}
void SumFloats(std::span<const BoxSums> groups, int width, double n, float* s, float* d) {
    sum_terms(groups, width, n, s, d);
}
void SumDoubles(std::span<const BoxSums> groups, int width, double n, double* s, double* d) {
    sum_terms(groups, width, n, s, d);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(MoveColumns);
HWY_EXPORT(AddThree);
HWY_EXPORT(SumFloats);
HWY_EXPORT(SumDoubles);

void move_columns(const TemporalRow* enters, const TemporalRow* leaves, const TemporalRow& ahead, int begin,
                  int count, const BoxSums& columns) {
    HWY_DYNAMIC_DISPATCH(MoveColumns)(enters, leaves, ahead, begin, count, columns);
}

void add_three(const BoxSums& from, int step, int count, const BoxSums& to) {
    HWY_DYNAMIC_DISPATCH(AddThree)(from, step, count, to);
}

void sum_windows(std::span<const BoxSums> groups, int width, double n, float* s, float* d) {
    HWY_DYNAMIC_DISPATCH(SumFloats)(groups, width, n, s, d);
}

void sum_windows(std::span<const BoxSums> groups, int width, double n, double* s, double* d) {
    HWY_DYNAMIC_DISPATCH(SumDoubles)(groups, width, n, s, d);
}

} // namespace specklescope
#endif
