// The multi-exposure fit of a row, a vector of pixels at a time.
#include "pipeline/counts.hpp"
#include "stages/mesi/mesi.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/mesi/simd/mesi_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// MesiScalar for vectors.
struct MesiLanes {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    using M = hn::Mask<D>;
    static V set(float v) { return hn::Set(D(), v); }
    static V mul(V a, V b) { return hn::Mul(a, b); }
    static V add(V a, V b) { return hn::Add(a, b); }
    static V sub(V a, V b) { return hn::Sub(a, b); }
    static V div(V a, V b) { return hn::Mul(a, inverse(b)); }
    static V inverse(V a) { return hn::Div(set(1), a); }
    static V root(V a) { return hn::Sqrt(a); }
    static V fma(V a, V b, V c) { return hn::MulAdd(a, b, c); }
    static V less_product(V c, V a, V b) { return hn::NegMulAdd(a, b, c); }
    static V magnitude(V a) { return hn::Abs(a); }
    static V smaller(V a, V b) { return hn::IfThenElse(hn::Lt(a, b), a, b); }
    static V larger(V a, V b) { return hn::IfThenElse(hn::Gt(a, b), a, b); }
    static V scaled(V a, V whole) {
        const hn::RebindToUnsigned<D> bits;
        return hn::BitCast(D(), hn::Add(hn::BitCast(bits, a), hn::ShiftLeft<23>(hn::BitCast(bits, whole))));
    }
    static M less(V a, V b) { return hn::Lt(a, b); }
    static M defined(V a) { return hn::Eq(a, a); }
    static M both(M a, M b) { return hn::And(a, b); }
    static M either(M a, M b) { return hn::Or(a, b); }
    static M without(M a, M b) { return hn::AndNot(b, a); }
    static V select(M mask, V yes, V no) { return hn::IfThenElse(mask, yes, no); }
    static bool any(M mask) { return !hn::AllFalse(D(), mask); }
};

#include "stages/mesi/mesi_solver-inl.hpp"

struct MesiPlanes {
    static constexpr int kMost = kMesiExposures;
    const float* samples;
    std::size_t plane;
    int count;
    int end() const { return count; }
    MesiLanes::V operator()(int i) const {
        return hn::Load(MesiLanes::D(), samples + static_cast<std::size_t>(i) * plane);
    }
};

/// Results of the lanes that are inside the row.
struct MesiBlock {
    static constexpr std::size_t kLanes = hn::MaxLanes(MesiLanes::D());
    alignas(64) std::array<std::array<float, kLanes>, 8> values;
};

template <bool Beta, bool Noise>
void FitBlock(const MesiTask& task, const MesiPlanes& planes, MesiBlock& block) {
    const MesiFit<MesiLanes::V> fit = MesiSolver<MesiLanes, Beta, Noise>::fit(task, planes);
    const MesiLanes::D d;
    hn::Store(fit.rate, d, block.values[0].data());
    hn::Store(fit.rho, d, block.values[1].data());
    hn::Store(fit.beta, d, block.values[2].data());
    hn::Store(fit.noise, d, block.values[3].data());
    hn::Store(fit.residual, d, block.values[4].data());
    hn::Store(fit.error, d, block.values[5].data());
    hn::Store(fit.iterations, d, block.values[6].data());
    hn::Store(fit.used, d, block.values[7].data());
}

void WriteResult(const MesiRow& row, std::size_t x, const MesiFit<float>& fit) {
    row.output[x] = mesi_main(fit.rate, row.tau);
    for (std::size_t map = 0; map < row.also.size(); ++map)
        if (row.also[map])
            row.also[map][x] = mesi_map(fit, static_cast<MesiMap>(map));
}

void RunRow(const MesiRow& row, const MesiTask& task, PixelCounts& counts) {
    const auto width = static_cast<std::size_t>(row.width);
    if (row.store.slot >= 0) {
        float* const kept = row.planes + static_cast<std::size_t>(row.store.slot) * row.plane;
        for (std::size_t x = 0; x < width; ++x)
            kept[x] = mesi_kept(row.input[x], kept[x], row.store);
    }
    MesiBlock block{};
    for (std::size_t begin = 0; begin < width; begin += hn::Lanes(MesiLanes::D())) {
        const MesiPlanes planes{row.planes + begin, row.plane, task.count};
        if (row.fits)
            switch (row.free) {
            case MesiFree::none:
                FitBlock<false, false>(task, planes, block);
                break;
            case MesiFree::noise:
                FitBlock<false, true>(task, planes, block);
                break;
            case MesiFree::beta:
                FitBlock<true, false>(task, planes, block);
                break;
            }
        const std::size_t inside = std::min(width - begin, hn::Lanes(MesiLanes::D()));
        const auto& v = block.values;
        for (std::size_t i = 0; i < inside; ++i)
            WriteResult(row, begin + i,
                        row.fits ? MesiFit<float>{v[0][i], v[1][i], v[2][i], v[3][i], v[4][i], v[5][i],
                                                  v[6][i], v[7][i]}
                                 : mesi_unknown());
    }
    count_undefined(row.output, row.width, 1, counts);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RunRow);

void run_mesi_row(const MesiRow& row, const MesiTask& task, PixelCounts& counts) {
    HWY_DYNAMIC_DISPATCH(RunRow)(row, task, counts);
}

} // namespace specklescope
#endif
