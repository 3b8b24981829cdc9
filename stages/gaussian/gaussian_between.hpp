// What lies between the two passes of the recursive Gaussian, and how the second lays out its scratch.
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

/// Vectors of lines that are swept along together, so that one's latency hides behind the others: the three
/// channels, or three groups of grey rows.
inline constexpr int kLineChains = 3;

/// Largest vector of f32, in lanes.
inline constexpr std::size_t kMaxLanes = 16;
/// Rows of a tile in the L1 cache; not a power of two, whose rows would share cache sets.
inline constexpr std::size_t kTileStride = kGaussianStrip + 16;

constexpr std::size_t line_sweep_samples(int pixels) {
    const std::size_t lanes = (static_cast<std::size_t>(pixels) + kGaussianStrip) * kLineChains * kMaxLanes;
    return lanes + kMaxLanes * kTileStride;
}

} // namespace specklescope
