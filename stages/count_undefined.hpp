// Counting pixels of an f32 result that need a word beside the picture.
#pragma once

#include "pipeline/stage.hpp"

#include <cmath>
#include <limits>

namespace specklescope {

/// Adds NaN and ±∞ of a row to `counts`.
inline void count_undefined(const float* values, int width, PixelCounts& counts) {
    int undefined = 0;
    int infinite = 0;
    for (int x = 0; x < width; ++x) {
        undefined += values[x] != values[x] ? 1 : 0;
        infinite += std::abs(values[x]) > std::numeric_limits<float>::max() ? 1 : 0;
    }
    counts.undefined += static_cast<std::uint64_t>(undefined);
    counts.infinite += static_cast<std::uint64_t>(infinite);
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
