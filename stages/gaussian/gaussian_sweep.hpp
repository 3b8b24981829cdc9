// The recursive Gaussian's two passes over an image: along strips of columns into intermediate memory, then
// along groups of rows. Each runs forward and backward over cached f32.
#pragma once

#include "stages/gaussian/gaussian.hpp"

#include <cstddef>
#include <type_traits>

namespace specklescope {

/// Samples across a strip. Between the passes a strip's rows are contiguous: for u8 as 16-bit fixed point of
/// 1/128, for other types as f32.
inline constexpr int kGaussianStrip = 64;

struct GaussianSweep {
    ConstHostView input; ///< at least one strip wide
    HostView output;
    Border border = Border::replicate;
    RecursiveGaussian filter;
    int width = 0;  ///< of the image; a narrower input is padded
    int margin = 0; ///< crop: pixels omitted on every side
    int warmup = 0; ///< reflect, wrap: pixels before and after a line
    /// omit: factors of rows and of samples in a row; null for other borders.
    const float* row_scale = nullptr;
    const float* column_scale = nullptr;
    std::byte* between = nullptr;
};

constexpr int gaussian_strips(int samples) { return (samples + kGaussianStrip - 1) / kGaussianStrip; }
/// First sample of a strip; the last two strips overlap so that all are complete.
constexpr int gaussian_strip_begin(int samples, int strip) {
    const int last = samples > kGaussianStrip ? samples - kGaussianStrip : 0;
    return strip * kGaussianStrip < last ? strip * kGaussianStrip : last;
}

std::size_t gaussian_between_bytes(const Shape& input, int rows);
/// Scratch memory of one thread for either pass, 64-byte aligned.
std::size_t gaussian_sweep_bytes(const Shape& input, int warmup);

/// Strips per call of sweep_columns(): 256 bytes of a row.
constexpr int gaussian_strips_at_once(PixelType type) { return 4 / static_cast<int>(pixel_bytes(type)); }
/// Processes strips from block·gaussian_strips_at_once() on.
void sweep_columns(const GaussianSweep& sweep, int block, float* scratch);

/// Rows processed together on this processor.
int gaussian_group_rows(int channels);
/// Processes output rows from group·gaussian_group_rows() on.
void sweep_rows(const GaussianSweep& sweep, int group, float* scratch);

// Memory between the two passes of the recursive Gaussian, and the scratch layout of the second.

template <class T> using BetweenOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int16_t, float>;

/// Row `y` of a strip.
template <class B> B* between_row(const GaussianSweep& sweep, int strip, int y) {
    const auto rows = static_cast<std::size_t>(sweep.output.shape.height);
    const std::size_t row = static_cast<std::size_t>(strip) * rows + static_cast<std::size_t>(y);
    return reinterpret_cast<B*>(sweep.between) + row * kGaussianStrip;
}

constexpr std::size_t column_sweep_samples(int height, int warmup) {
    return static_cast<std::size_t>(height + warmup) * kGaussianStrip;
}

/// Vectors of lines processed together to hide latency: the three channels, or three groups of grey rows.
inline constexpr int kLineChains = 3;

/// Lanes of the largest f32 vector.
inline constexpr std::size_t kMaxLanes = 16;
/// Row stride of a tile in the L1 cache; not a power of two, which would map rows to the same cache sets.
inline constexpr std::size_t kTileStride = kGaussianStrip + 16;

constexpr std::size_t line_sweep_samples(int pixels) {
    const std::size_t lanes = (static_cast<std::size_t>(pixels) + kGaussianStrip) * kLineChains * kMaxLanes;
    return lanes + kMaxLanes * kTileStride;
}

} // namespace specklescope
