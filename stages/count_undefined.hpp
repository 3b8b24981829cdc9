// Counting pixels of an f32 result that need a word beside the picture.
#pragma once

#include "pipeline/stage.hpp"

#include <cmath>
#include <limits>

namespace specklescope {

/// How many of a row's pixels have a sample for which is(sample), 0 or 1, is 1.
template <class T, class F> std::uint64_t count_pixels(const T* samples, int width, int channels, F&& is) {
    int count = 0;
    if (channels == 3)
        for (int x = 0; x < 3 * width; x += 3)
            count += is(samples[x]) | is(samples[x + 1]) | is(samples[x + 2]);
    else
        for (int x = 0; x < width; ++x)
            count += is(samples[x]);
    return static_cast<std::uint64_t>(count);
}

/// Adds a row's pixels with a NaN, and those with a ±∞, to `counts`.
inline void count_undefined(const float* values, int width, int channels, PixelCounts& counts) {
    counts.undefined += count_pixels(values, width, channels, [](float v) { return v != v ? 1 : 0; });
    counts.infinite += count_pixels(values, width, channels, [](float v) {
        return std::abs(v) > std::numeric_limits<float>::max() ? 1 : 0;
    });
}

/// Counts of one slot of run_bands, apart from every other's cache lines.
struct alignas(64) SlotCounts {
    PixelCounts counts;
};
inline void add_counts(const std::vector<SlotCounts>& slots, PixelCounts& counts) {
    for (const SlotCounts& slot : slots) {
        counts.undefined += slot.counts.undefined;
        counts.infinite += slot.counts.infinite;
        counts.saturated += slot.counts.saturated;
    }
}

} // namespace specklescope
