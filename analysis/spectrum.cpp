#include "analysis/pulse.hpp"

#include <unsupported/Eigen/FFT>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>

namespace specklescope {

namespace {

using Waves = std::vector<std::complex<double>>;

std::size_t largest_factor(std::size_t n) {
    std::size_t largest = 1;
    for (std::size_t p = 2; p * p <= n; ++p)
        for (; n % p == 0; n /= p)
            largest = p;
    return n > 1 ? n : largest;
}

/// Powers |X(k)|², k ≤ length/2, of real samples.
class Transform {
public:
    explicit Transform(std::size_t length) : length_(length), powers_(length / 2 + 1) {
        // The library needs length · p operations for a factor p: minutes if the rate makes `length` a prime.
        constexpr std::size_t kMostFactor = 64; // an estimate
        fourier_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
        if (largest_factor(length) > kMostFactor)
            make_chirp();
    }

    const std::vector<double>& powers(const std::vector<double>& samples) {
        if (chirp_.empty())
            fourier_.fwd(waves_, samples);
        else
            by_chirp(samples);
        for (std::size_t k = 0; k < powers_.size(); ++k)
            powers_[k] = std::norm(waves_[k]);
        return powers_;
    }

private:
    /// Bluestein 1970: with 2nk = n² + k² − (k − n)² and w(n) = e^{iπn²/length} a transform is a convolution,
    ///   X(k) = w*(k) · Σ x(n)·w*(n) · w(k − n),
    /// computed by transforms of a power of two. |w| = 1 keeps the powers.
    void make_chirp() {
        const std::size_t padded = std::bit_ceil(2 * length_ - 1);
        Waves wave(padded);
        chirp_.resize(length_);
        for (std::size_t n = 0; n < length_; ++n) {
            const std::uint64_t turns = static_cast<std::uint64_t>(n) * n % (2 * length_); // half turns
            chirp_[n] =
                std::polar(1.0, std::numbers::pi * static_cast<double>(turns) / static_cast<double>(length_));
            wave[n] = chirp_[n];
            wave[n == 0 ? 0 : padded - n] = chirp_[n];
        }
        fourier_.fwd(chirp_spectrum_, wave);
    }

    void by_chirp(const std::vector<double>& samples) {
        padded_.assign(chirp_spectrum_.size(), 0);
        for (std::size_t n = 0; n < length_; ++n)
            padded_[n] = samples[n] * std::conj(chirp_[n]);
        fourier_.fwd(product_, padded_);
        for (std::size_t k = 0; k < product_.size(); ++k)
            product_[k] *= chirp_spectrum_[k];
        fourier_.inv(waves_, product_);
    }

    std::size_t length_;
    Eigen::FFT<double> fourier_;
    Waves waves_, padded_, product_;
    Waves chirp_, chirp_spectrum_; ///< empty: not needed
    std::vector<double> powers_;
};

} // namespace

Spectrum welch_spectrum(const std::vector<std::vector<double>>& runs, double rate, std::size_t length) {
    Spectrum spectrum;
    spectrum.length = length;
    if (length < 2)
        return spectrum;
    spectrum.step_hz = rate / static_cast<double>(length);
    std::vector<double> window(length);
    double power = 0;
    for (std::size_t i = 0; i < length; ++i) {
        window[i] =
            0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
        power += window[i] * window[i];
    }
    Transform transform(length);
    std::vector<double> part(length), sums(length / 2 + 1);
    const std::size_t hop = length - length / 2;
    for (const std::vector<double>& run : runs)
        for (std::size_t begin = 0; begin + length <= run.size(); begin += hop) {
            double mean = 0;
            for (std::size_t i = 0; i < length; ++i)
                mean += run[begin + i];
            mean /= static_cast<double>(length);
            for (std::size_t i = 0; i < length; ++i)
                part[i] = (run[begin + i] - mean) * window[i];
            const std::vector<double>& powers = transform.powers(part);
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k] += powers[k];
            ++spectrum.segments;
        }
    if (spectrum.segments == 0)
        return spectrum;
    const double scale = 1 / (rate * power * static_cast<double>(spectrum.segments));
    for (std::size_t k = 0; k < sums.size(); ++k) // values with a twin at a negative frequency count twice
        sums[k] *= k == 0 || 2 * k == length ? scale : 2 * scale;
    spectrum.density = std::move(sums);
    return spectrum;
}

} // namespace specklescope
