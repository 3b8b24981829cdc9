// Fully developed speckle: its statistics, and patterns to compose frames from.
//
// The field z of a pixel is circular-Gaussian with ⟨|z|²⟩ = 1, and decorrelates as e^{−|Δt|/τc}. An exposure
// T records J = ∫|z|²dt/T, with x = T/τc: variance L(x) = lorentzian_contrast2(x), third cumulant
// 2·lorentzian_skew(x). A pixel has an area: it averages the intensity, which multiplies the variance by
// β = optics.beta() and the third cumulant by optics.skew().
#pragma once

#include "pipeline/image.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace specklescope {

/// K²/β of the exposure-averaged intensity, x = T/τc ≥ 0: (e^{−2x} − 1 + 2x)/(2x²), by its series near 0.
double lorentzian_contrast2(double x);
/// Half of the third cumulant of J: 6·∫₀¹(1 − u)·u·e^{−2xu}du.
double lorentzian_skew(double x);

/// K = √(β·K²(x)/β): result of an ideal measurement over very many pixels, without camera noise.
double expected_contrast(double x, double beta);

/// `speckle` is the full width at half maximum, in pixels, of the autocovariance of recorded pixels:
/// 2^{−4d²/speckle²} at a distance of d pixels.
class SpeckleOptics {
public:
    explicit SpeckleOptics(double speckle);
    /// Filter along one axis that gives white noise the field correlation 2^{−2d²/speckle²}; Σh² = 1.
    const std::vector<float>& taps() const { return taps_; }
    /// Variance over mean² of a static pattern: square pixels that average a Gaussian autocovariance, whose
    /// width is chosen such that recorded neighbours correlate by 2^{−4/speckle²}.
    double beta() const { return axis_beta_ * axis_beta_; }
    /// Third cumulant over that of an infinitely small pixel.
    double skew() const { return axis_skew_ * axis_skew_; }
    /// Autocovariance of the pixels' intensity, relative to its mean²: c(dx)·c(dy); c(0)² = β.
    double axis_covariance(int pixels) const;

private:
    double speckle_;
    double axis_beta_ = 1, axis_skew_ = 1;
    std::vector<float> taps_;
};

/// Camera noise in digital numbers (DN): variance = gain·I + floor.
struct CameraNoise {
    double gain = 0;  ///< DN per electron
    double floor = 0; ///< DN²: read noise squared (rounding adds its own 1/12)
};

/// Patterns on a torus, so that any shift of them is equivalent: complex fields, and sums of independent
/// intensities ("looks"). Mean and variance over the torus are exact, and the looks' third cumulant.
class SpeckleBank {
public:
    static constexpr int kFields = 4;
    static constexpr int kLooks = 4;      ///< 1, 4, 16 and 64 intensities, divided by their number
    static constexpr int kMinSide = 512;  ///< smaller images would repeat themselves too soon
    static constexpr int kMaxSide = 2048; ///< larger images repeat the pattern
    SpeckleBank(int width, int height, const SpeckleOptics& optics, std::uint64_t seed);
    static std::uint64_t bytes(int width, int height);

    int width() const { return width_; }
    int height() const { return height_; }
    const float* real(int field, int y) const { return row(2 * field, y); }
    const float* imaginary(int field, int y) const { return row(2 * field + 1, y); }
    const float* looks(int k, int y) const { return row(2 * kFields + k, y); }

private:
    std::size_t index(int plane, int y) const {
        return (static_cast<std::size_t>(plane) * static_cast<std::size_t>(height_) +
                static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(width_);
    }
    const float* row(int plane, int y) const { return data_.data() + index(plane, y); }
    float* row(int plane, int y) { return data_.data() + index(plane, y); }
    void make_component(int plane, const SpeckleOptics& optics, std::uint64_t seed);
    void normalise_field(int field);
    void make_looks(int k, std::uint64_t seed);
    void normalise_looks(int k);

    int width_, height_;
    std::vector<float> data_;
};

/// Constant and weights of the looks whose sum has mean `mean`, variance `variance` and half the third
/// cumulant `skew`, with the smallest constant ≥ 0 if there is one. With a `skew` out of reach, that of 1 or
/// 64 looks.
struct LookWeights {
    double constant = 0;
    std::array<double, SpeckleBank::kLooks> weight{};
};
LookWeights look_weights(double mean, double variance, double skew);

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
/// Mean 0, variance 1; the sum of 8 bytes, close enough to a Gaussian after filtering.
inline float random_normal(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = random_bits(seed, i);
    z = (z & 0x00ff00ff00ff00ffULL) + ((z >> 8) & 0x00ff00ff00ff00ffULL);
    const auto sum = static_cast<int>((z * 0x0001000100010001ULL) >> 48);
    return (static_cast<float>(sum) - 1020.0F) * 0.0047842F; // 1/√(8·(256² − 1)/12)
}

} // namespace specklescope
