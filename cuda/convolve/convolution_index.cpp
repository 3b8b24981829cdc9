#include "cuda/convolve/convolution_index.hpp"

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

/// Positions that the whole axis needs: around zeros one margin serves both of its ends.
int whole_extent(const ConvolutionAxis& axis, Border border) {
    const int margin = border == Border::zero ? axis.kernel / 2 : axis.kernel - 1;
    return std::max(axis.kernel, axis.results + margin);
}

} // namespace

ConvolutionAxis whole_axis(ConvolutionAxis axis, int fft, Border border) {
    axis.fft = fft;
    axis.tile = axis.results;
    axis.tiles = 1;
    axis.filled = border == Border::zero ? axis.results : axis.results + axis.kernel - 1;
    axis.origin = border == Border::zero ? 0 : axis.kernel - 1 - axis.kernel / 2;
    return axis;
}

std::vector<int> candidate_sizes(const ConvolutionAxis& axis, Border border) {
    const int needed = whole_extent(axis, border);
    int smooth = std::max(2, needed + needed % 2);
    while (!is_smooth(smooth))
        smooth += 2;
    int power = 2;
    while (power < needed)
        power *= 2;
    std::vector<int> sizes = {smooth, power};
    if (axis.fft >= needed)
        sizes.push_back(axis.fft);
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
