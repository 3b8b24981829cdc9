// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/average/average.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/average/simd/average_row.cpp"
#include "base/vector_targets.hpp"
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

bool all_numbers(const float* samples, int count) {
    int odd = 0;
    for (int x = 0; x < count; ++x)
        odd |= is_number(samples[x]) ? 0 : 1;
    return odd == 0;
}

void resum(const AverageRow& row, int x) {
    const LongSum sum = long_sum(row.step.held, [&](int k) {
        const int slot = row.step.slot - k + (k > row.step.slot ? row.frames : 0);
        return slot_of<const float>(row, slot)[x];
    });
    row.high[x] = sum.high;
    row.low[x] = sum.low;
}

/// Updates the counts of non-finite samples; call before the ring is overwritten.
void take_odd(const AverageRow& row, const float* newest, const float* leave) {
    if (!*row.irregular)
        std::fill_n(row.odd, row.samples, 0U);
    OddSamples any = 0;
    for (int x = 0; x < row.samples; ++x) {
        row.odd[x] += odd_sample(newest[x]) - (row.step.leaves ? odd_sample(leave[x]) : 0U);
        any |= row.odd[x];
    }
    *row.irregular = any != 0 ? 1 : 0;
}

/// Writes the means, too: right where all samples of the window are finite.
template <bool Regular, bool Leaves> void add_reals(const AverageRow& row, const float* HWY_RESTRICT newest,
                                                    float* HWY_RESTRICT slot, float* HWY_RESTRICT output) {
    double* const HWY_RESTRICT high = row.high;
    double* const HWY_RESTRICT low = row.low;
    const int count = row.samples;
    const double part = 1.0 / row.step.held;
    for (int x = 0; x < count; ++x) {
        LongSum sum{high[x], low[x]};
        sum.add(Regular ? static_cast<double>(newest[x]) : number_of(newest[x]));
        if (Leaves)
            sum.add(-(Regular ? static_cast<double>(slot[x]) : number_of(slot[x])));
        slot[x] = newest[x];
        high[x] = sum.high;
        low[x] = sum.low;
        output[x] = static_cast<float>(sum.value() * part);
    }
}

template <bool Regular>
void add_reals(const AverageRow& row, const float* newest, float* slot, float* output) {
    if (row.step.leaves)
        add_reals<Regular, true>(row, newest, slot, output);
    else
        add_reals<Regular, false>(row, newest, slot, output);
}

void write_means(const AverageRow& row, float* output) {
    const double part = 1.0 / row.step.held;
    for (int x = 0; x < row.samples; ++x)
        output[x] = static_cast<float>(LongSum{row.high[x], row.low[x]}.value() * part);
}

void take_reals(const AverageRow& row, const float* newest, float* output) {
    float* const slot = slot_of<float>(row, row.step.slot);
    if (row.step.first)
        *row.irregular = 0;
    const bool regular = !*row.irregular && all_numbers(newest, row.samples);
    if (!regular)
        take_odd(row, newest, slot);
    if (row.step.first || renewed(row.y, row.step.tick)) {
        std::copy_n(newest, row.samples, slot);
        for (int x = 0; x < row.samples; ++x)
            resum(row, x);
        write_means(row, output);
    } else if (regular) {
        add_reals<true>(row, newest, slot, output);
    } else {
        add_reals<false>(row, newest, slot, output);
    }
}

void window_of_reals(const AverageRow& row, const float* newest, float* output) {
    if (row.step.take)
        take_reals(row, newest, output);
    else
        write_means(row, output);
    if (*row.irregular)
        for (int x = 0; x < row.samples; ++x)
            output[x] = static_cast<float>(window_mean({row.high[x], row.low[x]}, row.odd[x], row.step.held));
}

/// For rows whose samples are all finite.
template <class T> void fade(const AverageRow& row, const T* newest) {
    double* const mean = row.mean;
    if (row.step.first) {
        std::copy_n(newest, row.samples, mean);
        return;
    }
    const double weight = exponential_weight(row.frames, row.step.tick);
    for (int x = 0; x < row.samples; ++x)
        mean[x] += (static_cast<double>(newest[x]) - mean[x]) * weight;
}

void fade_irregular(const AverageRow& row, const float* newest) {
    if (row.step.first)
        std::fill_n(row.mean, row.samples, 0.0);
    if (!*row.irregular) {
        std::fill_n(row.weights, row.samples, exponential_weights(row.frames, row.step.tick));
        std::fill_n(row.infinite, row.samples, 0U);
    }
    const double keep = 1 - 1.0 / row.frames;
    const double weights = exponential_weights(row.frames, row.step.tick + 1);
    bool regular = true;
    for (int x = 0; x < row.samples; ++x) {
        FadingMean fading{row.mean[x], row.weights[x], row.infinite[x]};
        fading.take(newest[x], keep, row.frames);
        regular = regular && fading.as_if_all(weights);
        row.mean[x] = fading.mean;
        row.weights[x] = fading.weight;
        row.infinite[x] = fading.infinite;
    }
    *row.irregular = regular ? 0 : 1;
}

template <class T> void exponential(const AverageRow& row, const T* newest, float* output) {
    if constexpr (std::is_same_v<T, float>) {
        if (row.step.first)
            *row.irregular = 0;
        if (row.step.take && (*row.irregular || !all_numbers(newest, row.samples)))
            fade_irregular(row, newest);
        else if (row.step.take)
            fade(row, newest);
        if (*row.irregular) {
            for (int x = 0; x < row.samples; ++x)
                output[x] =
                    static_cast<float>(FadingMean{row.mean[x], row.weights[x], row.infinite[x]}.value());
            return;
        }
    } else if (row.step.take) {
        fade(row, newest);
    }
    for (int x = 0; x < row.samples; ++x)
        output[x] = static_cast<float>(row.mean[x]);
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
