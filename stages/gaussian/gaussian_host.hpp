// The host's two ways to blur, apart: gaussian.cpp chooses.
#pragma once

#include "stages/gaussian/gaussian.hpp"

#include <cstdint>
#include <vector>

namespace specklescope {

/// Separable taps: method = direct, binomial3, binomial5 (or automatic standing for direct).
std::unique_ptr<HostStage> make_gaussian_direct_host(const GaussianParams& params);
/// method = recursive (or automatic standing for it).
std::unique_ptr<HostStage> make_gaussian_recursive_host(const GaussianParams& params);

/// The middle weight and those to its right times 2¹⁵, the nearest whole numbers; the middle one makes the
/// sum of all 2¹⁵ again, so that a constant stays what it is. `taps`: 2·radius + 1 weights of sum 1.
std::vector<std::int16_t> gaussian_fixed_taps(const std::vector<double>& taps);

/// What omit multiplies by: 1/norm, each `repeat` times, once for every channel.
inline std::vector<float> gaussian_scale(const std::vector<double>& norms, int repeat) {
    std::vector<float> scale;
    for (const double norm : norms)
        scale.insert(scale.end(), static_cast<std::size_t>(repeat), static_cast<float>(1 / norm));
    return scale;
}

/// Rows of f32 scratch start on this many samples: 64 bytes.
inline constexpr std::size_t kGaussianAlign = 16;
constexpr std::size_t gaussian_stride(std::size_t samples) {
    return (samples + kGaussianAlign - 1) / kGaussianAlign * kGaussianAlign;
}

} // namespace specklescope
