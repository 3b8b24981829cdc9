// Inner loops of geometry on the host, in the best instruction set of the processor; and the rounding shared
// with the device.
#pragma once

#include "base/host_device.hpp"
#include "stages/filter_norm.hpp"
#include "stages/geometry/geometry.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope {

/// To nearest, ties to even, for 0 ≤ value < 2²²: above 2²³ f32 has no fraction. The sum has no product as an
/// operand, so that nothing is fused.
SPECKLESCOPE_BOTH inline std::uint32_t round_even(float value) {
    constexpr float kNoFraction = 8388608.0F;
    const float shifted = value + kNoFraction;
    return static_cast<std::uint32_t>(shifted - kNoFraction);
}

static_assert(DownsampleParams::kMaxFactor * DownsampleParams::kMaxFactor <= 256);

/// Mean of `count` ≤ 256 samples of at most 16 bits: the sum is exact in f32, and no quotient that is not a
/// tie rounds to one (the nearest is 1/450 away, at 225 samples).
SPECKLESCOPE_BOTH inline std::uint32_t mean_even(std::uint32_t sum, int count) {
    return round_even(static_cast<float>(sum) / static_cast<float>(count));
}

/// to[i] = from[pixels − 1 − i], pixels of `channels` samples.
void reverse_row(const std::byte* from, std::byte* to, int pixels, int channels, PixelType type);

/// Output rows [begin, end) of one or three quarter turns.
void rotate_rows(ConstHostView input, HostView output, int turns, int begin, int end);

/// Mean of the finite samples of a block; at(line, column). Undefined if there are none.
template <class At> SPECKLESCOPE_BOTH inline float mean_of_numbers(int factor, const At& at) {
    double sum = 0;
    int count = 0;
    for (int line = 0; line < factor; ++line)
        for (int column = 0; column < factor; ++column) {
            const float sample = at(line, column);
            sum += is_sample(sample) ? static_cast<double>(sample) : 0;
            count += is_sample(sample) ? 1 : 0;
        }
    return count > 0 ? static_cast<float>(sum / count) : NAN;
}

/// Bytes of column sums for one input row.
std::size_t mean_scratch_bytes(const Shape& input);
/// One output row: sums columns first, from the top, then the columns of a block from the left.
void mean_row(ConstHostView input, HostView output, int factor, int row, std::byte* sums);
void nearest_row(ConstHostView input, HostView output, int factor, int row);

} // namespace specklescope
