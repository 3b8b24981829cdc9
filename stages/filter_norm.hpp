// What becomes of undefined and infinite samples in a linear filter; shared by host and device.
#pragma once

#include "base/host_device.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// Undefined and infinite samples do not spread through a filter of f32:
///   result = Σ weight·sample / Σ weight · (sum of all weights), both Σ over the samples that are numbers.
/// Undefined where less than `least` of the weights is left. With negative weights there is no such mean:
/// each result in whose reach a sample is missing is undefined.
struct FilterNorm {
    double sums[3] = {1, 1, 1};  ///< of the weights for each channel
    double sizes[3] = {1, 1, 1}; ///< sums of their absolute values
    bool zeros_outside = false;  ///< outside the image lie zeros, which are numbers
    bool negative = false;       ///< some weights are negative
    double least = 0;            ///< 0: any sample that is a number

    /// The filter is also run over a mask: 1 where there is a number; for these kinds where there is none.
    /// Negative weights would cancel out over equal marks, so that sample x of row y has its own.
    SPECKLESCOPE_BOTH float mask(bool number, int x, int y) const {
        if (negative && !number) {
            std::uint32_t bits = static_cast<std::uint32_t>(y) * 2654435761U + static_cast<std::uint32_t>(x);
            bits = (bits ^ bits >> 16) * 2246822519U;
            bits = (bits ^ bits >> 13) * 3266489917U;
            return 1 + static_cast<float>(bits >> 9) * 0x1p-23F;
        }
        return number == !(zeros_outside || negative) ? 1 : 0;
    }
};

/// FilterNorm::least of filters by transforms or by recursion, whose rounding is a part of their largest
/// result.
inline constexpr double kLeastWeight = 1e-3;

SPECKLESCOPE_BOTH inline bool is_sample(float value) { return value - value == 0; }

/// The filter gets samples less `offset`: `result`, and of the mask `weight`; without a hole there is no
/// mask.
SPECKLESCOPE_BOTH inline float normalised(const FilterNorm& norm, int channel, float result, bool holes,
                                          float weight, float offset) {
    constexpr double kRounding = 1e-5; // of a transform, with a margin
    const double sum = norm.sums[channel];
    double part = 1; // of the weights
    if (holes && norm.negative)
        part = fabs(static_cast<double>(weight)) <= kRounding * norm.sizes[channel] ? 1 : 0;
    else if (holes)
        part = (norm.zeros_outside ? sum - static_cast<double>(weight) : static_cast<double>(weight)) / sum;
    return part > norm.least
               ? static_cast<float>(static_cast<double>(result) / part + static_cast<double>(offset) * sum)
               : NAN;
}

/// f32 has few digits for samples that lie close to a large number, so the filter gets their difference to
/// it. Samples are looked at in kOffsetPlaces places across and as many down.
inline constexpr int kOffsetPlaces = 8;
SPECKLESCOPE_BOTH constexpr int offset_place(int i, int size) {
    return (2 * i + 1) * size / (2 * kOffsetPlaces);
}
/// `low` and `high`: of those samples that are numbers. 0 unless they are much larger than their differences.
SPECKLESCOPE_BOTH inline float common_offset(float low, float high) {
    constexpr float kClose = 256;
    return low <= high && (high - low) * kClose < fminf(fabsf(low), fabsf(high)) ? low : 0;
}

} // namespace specklescope
