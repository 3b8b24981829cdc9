// Memory between the two passes of the recursive Gaussian, and the scratch layout of the second.
#pragma once

#include "stages/gaussian/gaussian_sweep.hpp"

#include <type_traits>

namespace specklescope {

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
