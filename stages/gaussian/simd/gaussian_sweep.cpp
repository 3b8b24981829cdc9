// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/gaussian/gaussian_sweep.hpp"

#include <algorithm>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/gaussian/simd/gaussian_sweep.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/gaussian/simd/gaussian_columns-inl.hpp"
#include "stages/gaussian/simd/gaussian_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

void SweepColumns(const GaussianSweep& sweep, int block, float* scratch) {
    const Shape& shape = sweep.input.shape;
    const int begin = block * gaussian_strips_at_once(shape.type);
    const int end =
        std::min(begin + gaussian_strips_at_once(shape.type), gaussian_strips(shape.width * shape.channels));
    dispatch(shape.type, [&](auto zero) { ColumnSweep<decltype(zero)>(sweep, scratch).run(begin, end); });
}

void SweepRows(const GaussianSweep& sweep, int group, float* scratch) {
    dispatch(sweep.input.shape.type,
             [&](auto zero) { LineSweep<decltype(zero)>(sweep, group, scratch).run(); });
}

int Lanes() { return static_cast<int>(hn::MaxLanes(hn::ScalableTag<float>())); }

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

namespace {

/// Flushes numbers below 1e-38 to 0 on this thread for its lifetime: d and e decay to such denormals in every
/// constant area, where each costs a hundred cycles.
class FlushTiny {
public:
#ifdef __SSE2__
    FlushTiny() : outer_(_mm_getcsr()) { _mm_setcsr(outer_ | kFlush); }
    ~FlushTiny() { _mm_setcsr(outer_); }
    FlushTiny(const FlushTiny&) = delete;
    FlushTiny& operator=(const FlushTiny&) = delete;

private:
    static constexpr unsigned kFlush = 0x8040; // results and operands
    unsigned outer_;
#endif
};

} // namespace

HWY_EXPORT(SweepColumns);
HWY_EXPORT(SweepRows);
HWY_EXPORT(Lanes);

void sweep_columns(const GaussianSweep& sweep, int block, float* scratch) {
    [[maybe_unused]] const FlushTiny flush;
    HWY_DYNAMIC_DISPATCH(SweepColumns)(sweep, block, scratch);
}

void sweep_rows(const GaussianSweep& sweep, int group, float* scratch) {
    [[maybe_unused]] const FlushTiny flush;
    HWY_DYNAMIC_DISPATCH(SweepRows)(sweep, group, scratch);
}

int gaussian_group_rows(int channels) { return HWY_DYNAMIC_DISPATCH(Lanes)() * (kLineChains / channels); }

std::size_t gaussian_between_bytes(const Shape& input, int rows) {
    const auto strips = static_cast<std::size_t>(gaussian_strips(input.width * input.channels));
    const std::size_t sample = input.type == PixelType::u8 ? sizeof(std::int16_t) : sizeof(float);
    const std::size_t over = kLineChains * kMaxLanes; // for a group that starts in the last row
    return (strips * static_cast<std::size_t>(rows) + over) * kGaussianStrip * sample;
}

std::size_t gaussian_sweep_bytes(const Shape& input, int warmup) {
    const std::size_t staged = static_cast<std::size_t>(input.height) * kGaussianStrip; // 256 bytes per row
    const std::size_t columns = column_sweep_samples(input.height, warmup) + staged;
    const std::size_t lines = line_sweep_samples(input.width + warmup);
    return std::max(columns, lines) * sizeof(float);
}

} // namespace specklescope
#endif
