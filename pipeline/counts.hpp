// What is counted beside a picture: samples at full scale in the raw frame, windows that saw one, undefined
// and infinite pixels of the final image. The same rules for host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace specklescope {

/// Smallest value that counts as saturated, or none: info.full_scale, the type's own where that is 0.
std::optional<double> saturation_threshold(PixelType type, const FrameInfo& info);

/// Where the counts of a result come from: told of every step as a frame goes through the chain.
struct CountSources {
    int saturated = -1;        ///< the last step that looked for samples at full scale; −1: none did
    std::uint64_t windows = 0; ///< in its output
    int undefined = -1; ///< the last step, if it counts what is undefined in its output; −1: it does not

    /// Step number `step`, whose stage counts so, has made `output` of samples of `type`, described by
    /// `info`.
    void after(int step, Counted counted, PixelType type, const FrameInfo& info, const Shape& output) {
        undefined = counted.undefined ? step : -1;
        if (counted.saturated && saturation_threshold(type, info)) {
            saturated = step;
            windows = output.pixels();
        }
    }
};

/// What `info` says of a frame whose samples of `from` were converted: a full scale that was the type's
/// stays.
inline void describe_conversion(PixelType from, FrameInfo& info) {
    if (!(info.full_scale > 0))
        info.full_scale = type_full_scale(from);
}

/// The counts of a result, `made` of a frame that `info` describes: where a recorded result is played, which
/// was looked at when it was made, what was counted then stays true. Its own samples tell nothing of the raw
/// ones, whatever their type's largest value is.
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

/// Samples at `threshold` or above, over the threads.
std::uint64_t count_saturated(ConstHostView image, double threshold);
/// Adds the undefined and the infinite pixels of an image of any type to `counts`, over the threads.
void count_undefined(ConstHostView image, PixelCounts& counts);

/// Samples at `threshold` or above. Counted in a type as wide as the samples, so that a vector counts as many
/// at once as it holds.
template <class T> std::uint64_t count_at_least(const T* samples, int count, T threshold) {
    using Narrow = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
    constexpr int kBlock = sizeof(T) == 1 ? 240 : 32752; // whole vectors, below what Narrow holds
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
