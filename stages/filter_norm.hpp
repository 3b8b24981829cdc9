// Undefined and infinite samples in linear filters; shared by host and device.
#pragma once

#include "base/host_device.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// Undefined and infinite samples do not spread through an f32 filter:
///   result = Σ weight·sample / Σ weight · (sum of all weights), both Σ over the finite samples.
/// Undefined if less than `least` of the weights remains. With negative weights there is no such mean: every
/// result within reach of a missing sample is undefined.
struct FilterNorm {
    double sums[3] = {1, 1, 1};  ///< of the weights for each channel
    double sizes[3] = {1, 1, 1}; ///< sums of their absolute values
    bool zeros_outside = false;  ///< pixels outside the image are zeros, which are finite
    bool negative = false;       ///< some weights are negative
    double least = 0;            ///< 0: one finite sample is enough

    /// Value of the mask that is filtered as well: 1 for finite samples, with negative weights for missing
    /// ones. Negative weights could cancel over equal marks, so that sample x of row y has its own.
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

/// FilterNorm::least of filters by transforms or recursion, whose rounding is relative to their largest
/// result.
inline constexpr double kLeastWeight = 1e-3;

SPECKLESCOPE_BOTH inline bool is_sample(float value) { return value - value == 0; }

/// The filter runs on samples minus `offset`: `result`, and `weight` from the mask; without missing samples
/// there is no mask.
SPECKLESCOPE_BOTH inline float normalised(const FilterNorm& norm, int channel, float result, bool holes,
                                          float weight, float offset) {
    constexpr double kRounding = 1e-5; // of a transform, with a margin
    const double sum = norm.sums[channel];
    double part = 1; // fraction of the weights
    if (holes && norm.negative)
        part = fabs(static_cast<double>(weight)) <= kRounding * norm.sizes[channel] ? 1 : 0;
    else if (holes)
        part = (norm.zeros_outside ? sum - static_cast<double>(weight) : static_cast<double>(weight)) / sum;
    return part > norm.least
               ? static_cast<float>(static_cast<double>(result) / part + static_cast<double>(offset) * sum)
               : NAN;
}

/// f32 loses digits for samples close to a large number, so that the filter uses differences from it.
/// kOffsetPlaces × kOffsetPlaces samples are examined.
inline constexpr int kOffsetPlaces = 8;
SPECKLESCOPE_BOTH constexpr int offset_place(int i, int size) {
    return (2 * i + 1) * size / (2 * kOffsetPlaces);
}
/// `low` and `high` of the finite samples. 0 unless they are much larger than their difference.
SPECKLESCOPE_BOTH inline float common_offset(float low, float high) {
    constexpr float kClose = 256;
    return low <= high && (high - low) * kClose < fminf(fabsf(low), fabsf(high)) ? low : 0;
}

} // namespace specklescope
