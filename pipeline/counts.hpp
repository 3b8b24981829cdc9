// Pixel counts of a result: samples at full scale in the raw frame, windows that contain one, undefined and
// infinite pixels of the final image. The rules are the same on host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace specklescope {

/// Smallest value that counts as saturated: info.full_scale, or the type's own if that is 0; nothing for f32.
std::optional<double> saturation_threshold(PixelType type, const FrameInfo& info);

/// Steps of a chain that provide the counts of a result; updated with every step of a frame.
struct CountSources {
    int saturated = -1;        ///< last step that looked for samples at full scale; −1: none
    std::uint64_t windows = 0; ///< in its output
    int undefined = -1;        ///< last step, if it counts undefined pixels of its output; −1: it does not

    /// Call after step number `step`, which counts `counted`. `output` has samples of `type`, described by
    /// `info`.
    void after(int step, Counted counted, PixelType type, const FrameInfo& info, const Shape& output) {
        undefined = counted.undefined ? step : -1;
        if (counted.saturated && saturation_threshold(type, info)) {
            saturated = step;
            windows = output.pixels();
        }
    }
};

/// Updates `info` of a frame whose samples of type `from` were converted: the type's full scale stays.
inline void describe_conversion(PixelType from, FrameInfo& info) {
    if (!(info.full_scale > 0))
        info.full_scale = type_full_scale(from);
}

/// Final counts of a result, `made` from a frame with `info`. For a recorded result that is played back, the
/// counts stored with it are used, since its own samples are not raw samples.
inline PixelCounts counts_of(const FrameInfo& info, PixelCounts made) {
    if (info.recorded.raw_samples > 0) {
        made.raw_saturated = info.recorded.raw_saturated;
        made.raw_samples = info.recorded.raw_samples;
    }
    if (made.windows == 0) {
        made.saturated = info.recorded.saturated;
        made.windows = info.recorded.windows;
    }
    return made;
}

/// Number of samples at `threshold` or above, multithreaded.
std::uint64_t count_saturated(ConstHostView image, double threshold);
/// Adds the undefined and infinite pixels of an image of any type to `counts`, multithreaded.
void count_undefined(ConstHostView image, PixelCounts& counts);

/// Number of samples at `threshold` or above. The counter is as wide as the samples, so that vectors are
/// filled.
template <class T> std::uint64_t count_at_least(const T* samples, int count, T threshold) {
    using Narrow = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
    constexpr int kBlock = sizeof(T) == 1 ? 240 : 32752; // whole vectors, below the maximum of Narrow
    std::uint64_t sum = 0;
    for (int x = 0; x < count; x += kBlock) {
        const int end = std::min(count, x + kBlock);
        Narrow block = 0;
        for (int i = x; i < end; ++i)
            block = static_cast<Narrow>(block + (samples[i] >= threshold ? 1 : 0));
        sum += block;
    }
    return sum;
}

/// Number of pixels in a row with a sample for which is(sample) is 1, not 0.
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

/// Counts of one run_bands slot, on its own cache lines.
struct alignas(64) SlotCounts {
    PixelCounts counts;
};
inline void add_counts(std::span<const SlotCounts> slots, PixelCounts& counts) {
    for (const SlotCounts& slot : slots) {
        counts.undefined += slot.counts.undefined;
        counts.infinite += slot.counts.infinite;
        counts.saturated += slot.counts.saturated;
    }
}

} // namespace specklescope
