#include "analysis/spectrum.hpp"

#include <unsupported/Eigen/FFT>

#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

namespace specklescope {

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
    Eigen::FFT<double> fourier;
    fourier.SetFlag(Eigen::FFT<double>::HalfSpectrum);
    std::vector<double> part(length), sums(length / 2 + 1);
    std::vector<std::complex<double>> waves;
    const std::size_t hop = length - length / 2;
    for (const std::vector<double>& run : runs)
        for (std::size_t begin = 0; begin + length <= run.size(); begin += hop) {
            double mean = 0;
            for (std::size_t i = 0; i < length; ++i)
                mean += run[begin + i];
            mean /= static_cast<double>(length);
            for (std::size_t i = 0; i < length; ++i)
                part[i] = (run[begin + i] - mean) * window[i];
            fourier.fwd(waves, part);
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k] += std::norm(waves[k]);
            ++spectrum.segments;
        }
    if (spectrum.segments == 0)
        return spectrum;
    const double scale = 1 / (rate * power * static_cast<double>(spectrum.segments));
    for (std::size_t k = 0; k < sums.size(); ++k) // what has a twin at a negative frequency counts for both
        sums[k] *= k == 0 || 2 * k == length ? scale : 2 * scale;
    spectrum.density = std::move(sums);
    return spectrum;
}

} // namespace specklescope
