// The two implementations of the blur on the host; gaussian.cpp chooses.
#pragma once

#include "stages/gaussian/gaussian.hpp"

#include <cstdint>
#include <vector>

namespace specklescope {

/// Separable taps: method = direct, binomial3, binomial5, or chosen by automatic.
std::unique_ptr<HostStage> make_gaussian_direct_host(const GaussianParams& params);
/// method = recursive, or chosen by automatic.
std::unique_ptr<HostStage> make_gaussian_recursive_host(const GaussianParams& params);

/// The middle weight and the weights to its right times 2¹⁵, rounded; the middle one makes the sum 2¹⁵ again,
/// so that a constant stays constant. `taps`: 2·radius + 1 weights with sum 1.
std::vector<std::int16_t> gaussian_fixed_taps(const std::vector<double>& taps);

/// Factors of omit: 1/norm, each `repeat` times, once per channel.
inline std::vector<float> gaussian_scale(const std::vector<double>& norms, int repeat) {
    std::vector<float> scale;
    for (const double norm : norms)
        scale.insert(scale.end(), static_cast<std::size_t>(repeat), static_cast<float>(1 / norm));
    return scale;
}

/// Rows of f32 scratch are aligned to this number of samples: 64 bytes.
inline constexpr std::size_t kGaussianAlign = 16;
constexpr std::size_t gaussian_stride(std::size_t samples) {
    return (samples + kGaussianAlign - 1) / kGaussianAlign * kGaussianAlign;
}

} // namespace specklescope
