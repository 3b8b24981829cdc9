// Simulated speckle with known contrast at every pixel: statistics and patterns.
//
// A fully developed speckle pattern is |z|² of a circular-Gaussian field z with the correlation of a Gaussian
// pupil. While the field decorrelates as e^{−Δt/τc}, a camera with exposure T sees a weighted sum Σ wⱼ·|zⱼ|²
// of independent patterns (the modes of the correlation over the exposure) with Σwⱼ = 1 and Σwⱼ² = K²/β,
// where K² follows the n = 1 row of Bandyopadhyay 2005. Here the weights decrease geometrically, wⱼ ∝ rʲ,
// with r chosen for exactly that K²: one multiplication and one addition per pattern and pixel, with a
// different r for every pixel. Mean and contrast are exact; higher moments are those of a sum of few to many
// exponentials, as in nature.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <vector>

namespace specklescope {

/// K²/β of the exposure-averaged intensity, x = T/τc ≥ 0: (e^{−2x} − 1 + 2x)/(2x²), by its series near 0.
double lorentzian_contrast2(double x);

/// K = √(β·K²(x)/β): result of an ideal measurement over very many pixels, without camera noise.
double expected_contrast(double x, double beta);

/// A pixel is the mean of 2×2 points of the field; `speckle` is the full width at half maximum, in pixels, of
/// the autocovariance of the intensity at a point.
class SpeckleOptics {
public:
    explicit SpeckleOptics(double speckle);
    /// Taps of the pupil's filter along one axis, at half-pixel steps; Σh² = 1.
    const std::vector<float>& taps() const { return taps_; }
    /// Coherence factor: variance over mean² of a static pattern, from the sizes of pixel and speckle.
    double beta() const { return axis_covariance(0) * axis_covariance(0); }
    /// Autocovariance of the pixels' intensity, relative to its mean²: c(dx)·c(dy); c(0)² = β.
    double axis_covariance(int pixels) const;

private:
    double field_correlation(int half_pixels) const;
    std::vector<float> taps_;
};

/// Camera noise in digital numbers (DN): variance = gain·I + floor.
struct CameraNoise {
    double gain = 0;  ///< DN per electron
    double floor = 0; ///< DN²: read noise squared (rounding adds its own 1/12)
};

/// Static patterns with mean 1 on a torus, so that any shift is equivalent.
class SpeckleBank {
public:
    static constexpr int kPatterns = 4;
    static constexpr int kMaxSide = 2048; ///< larger images repeat the pattern
    SpeckleBank() = default;
    SpeckleBank(int width, int height, const SpeckleOptics& optics, std::uint64_t seed);
    int width() const { return width_; }
    int height() const { return height_; }
    const float* row(int pattern, int y) const {
        return data_.data() + (static_cast<std::size_t>(pattern) * static_cast<std::size_t>(height_) +
                               static_cast<std::size_t>(y)) *
                                  static_cast<std::size_t>(width_);
    }

private:
    int width_ = 0;
    int height_ = 0;
    std::vector<float> data_;
};

/// Maximum number of patterns in an exposure.
inline constexpr int kModes = 48;

/// Weights wⱼ = scale·ratioʲ (j < kModes) and a constant part: offset + scale·Σratioʲ·|zⱼ|².
struct ModeWeights {
    float ratio = 0, scale = 1, offset = 0;
};
/// For K²/β = contrast2: Σw + offset = 1, Σw² = contrast2.
ModeWeights mode_weights(double contrast2);

/// One exposure of a scene, with rate(x, y) = 1/τc and brightness (mean DN) per pixel.
struct SpeckleExposure {
    double time_s = 0;
    std::uint64_t seed = 0;         ///< determines the patterns' shifts and the noise
    std::uint64_t pattern_seed = 0; ///< equal for two exposures: the same speckle, different noise
    double full_scale = 4095;
    CameraNoise noise;
};
/// `rates` (1/s) and `mean` (DN) have w·h values, row by row. Values are rounded to the nearest integer and
/// clamped to 0…full_scale. `to`: u8 or u16, one channel. Uses all cores.
void expose(const SpeckleBank& bank, const float* rates, const float* mean, const SpeckleExposure& exposure,
            HostView to);

/// Counter-based random numbers: element i of stream `seed`, the same on every thread.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ULL; // SplitMix64 (Steele, Lea, Flood 2014)
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
inline double random_unit(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53;
}
/// Mean 0, variance 1; the sum of 8 bytes, close enough to a Gaussian after filtering or as camera noise.
inline float random_normal(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = random_bits(seed, i);
    z = (z & 0x00ff00ff00ff00ffULL) + ((z >> 8) & 0x00ff00ff00ff00ffULL);
    const auto sum = static_cast<int>((z * 0x0001000100010001ULL) >> 48);
    return (static_cast<float>(sum) - 1020.0F) * 0.0047842F; // 1/√(8·(256² − 1)/12)
}

} // namespace specklescope
