// Plain loops, compiled once for every instruction set (Highway); the call takes the best that the processor
// has.
#include "stages/average/simd/average_row.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/average/simd/average_row.cpp"
#include "stages/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

template <class T> T* slot_of(const AverageRow& row, int slot) {
    return reinterpret_cast<T*>(row.ring + static_cast<std::size_t>(slot) * row.slot_bytes);
}

template <class T> void window_of_integers(const AverageRow& row, const T* newest, float* output) {
    T* const slot = slot_of<T>(row, row.step.slot);
    std::uint32_t* const sums = row.sums;
    const int count = row.samples;
    if (row.step.first)
        std::fill_n(sums, count, 0U);
    if (row.step.leaves)
        for (int x = 0; x < count; ++x)
            sums[x] -= slot[x];
    if (row.step.take) {
        for (int x = 0; x < count; ++x)
            sums[x] += newest[x];
        std::copy_n(newest, count, slot);
    }
    const double part = 1.0 / row.step.held;
    for (int x = 0; x < count; ++x) // at most 1000·65535
        output[x] = static_cast<float>(static_cast<std::int32_t>(sums[x]) * part);
}

void sum_anew(const AverageRow& row, int x) {
    const LongSum sum = long_sum(row.step.held, [&](int k) {
        const int slot = row.step.slot - k + (k > row.step.slot ? row.frames : 0);
        return slot_of<const float>(row, slot)[x];
    });
    row.high[x] = sum.high;
    row.low[x] = sum.low;
}

void take_reals(const AverageRow& row, const float* newest) {
    float* const slot = slot_of<float>(row, row.step.slot);
    if (row.step.first || renewed(row.y, row.step.tick)) {
        std::copy_n(newest, row.samples, slot);
        for (int x = 0; x < row.samples; ++x)
            sum_anew(row, x);
        return;
    }
    constexpr int kChunk = 64;
    float leave[kChunk] = {};
    for (int begin = 0; begin < row.samples; begin += kChunk) {
        const int count = std::min(kChunk, row.samples - begin);
        if (row.step.leaves)
            std::copy_n(slot + begin, count, leave);
        std::copy_n(newest + begin, count, slot + begin);
        int lost = 0;
        for (int i = 0; i < count; ++i) {
            LongSum sum{row.high[begin + i], row.low[begin + i]};
            sum.add(newest[begin + i]);
            sum.add(-static_cast<double>(leave[i]));
            lost |= leave[i] - leave[i] == 0 ? 0 : 1; // not finite
            row.high[begin + i] = sum.high;
            row.low[begin + i] = sum.low;
        }
        for (int i = 0; lost != 0 && i < count; ++i)
            if (!(leave[i] - leave[i] == 0))
                sum_anew(row, begin + i);
    }
}

void window_of_reals(const AverageRow& row, const float* newest, float* output) {
    if (row.step.take)
        take_reals(row, newest);
    const double held = row.step.held;
    for (int x = 0; x < row.samples; ++x)
        output[x] = static_cast<float>(LongSum{row.high[x], row.low[x]}.value() / held);
}

template <class T> void exponential(const AverageRow& row, const T* newest, float* output) {
    const double weight = exponential_weight(row.frames, row.step.tick);
    double* const mean = row.mean;
    if (row.step.first)
        std::fill_n(mean, row.samples, std::numeric_limits<double>::quiet_NaN());
    if (row.step.take)
        for (int x = 0; x < row.samples; ++x)
            mean[x] = exponential_mean(mean[x], newest[x], weight);
    for (int x = 0; x < row.samples; ++x) {
        const auto sample = static_cast<float>(newest[x]);
        output[x] = sample - sample == 0 ? static_cast<float>(mean[x]) : sample;
    }
}

void RunRow(const AverageRow& row, const std::byte* newest, float* output) {
    dispatch(row.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const samples = reinterpret_cast<const T*>(newest);
        if (row.mean)
            exponential(row, samples, output);
        else if constexpr (std::is_same_v<T, float>)
            window_of_reals(row, samples, output);
        else
            window_of_integers(row, samples, output);
    });
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RunRow);

void run_average_row(const AverageRow& row, const std::byte* newest, float* output) {
    HWY_DYNAMIC_DISPATCH(RunRow)(row, newest, output);
}

} // namespace specklescope
#endif
