#include "cuda/convolution_index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace specklescope::cuda {

namespace {

bool is_smooth(int n) {
    for (const int prime : {2, 3, 5, 7})
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

/// Positions that a tile which is the whole axis needs: around zeros one margin serves both of its ends.
int extent(const ConvolutionAxis& axis) {
    const bool around_zeros = axis.origin == 0 && axis.filled == axis.results;
    return std::max(axis.kernel, around_zeros ? axis.results + axis.kernel / 2 : axis.filled);
}

} // namespace

std::vector<int> candidate_sizes(const ConvolutionAxis& axis) {
    const int needed = extent(axis);
    int smooth = std::max(2, needed + needed % 2);
    while (!is_smooth(smooth))
        smooth += 2;
    int power = 2;
    while (power < needed)
        power *= 2;
    std::vector<int> sizes = {smooth, axis.fft, power};
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count) {
    const auto length = static_cast<std::size_t>(fft);
    std::vector<double> cosines(length);
    for (std::size_t i = 0; i < length; ++i)
        cosines[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / fft);
    const std::size_t middle = taps.size() / 2;
    std::vector<float> spectrum(static_cast<std::size_t>(count));
    for (std::size_t f = 0; f < spectrum.size(); ++f) {
        double sum = 0;
        std::size_t angle = 0;
        for (std::size_t i = 1; i <= middle; ++i) {
            angle += f;
            if (angle >= length)
                angle -= length;
            sum += taps[middle + i] * cosines[angle];
        }
        spectrum[f] = static_cast<float>((taps[middle] + 2 * sum) / fft);
    }
    return spectrum;
}

} // namespace specklescope::cuda
