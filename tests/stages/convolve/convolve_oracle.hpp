// Convolution as the formula says and nothing else, in float64; shared by the tests of host and device.
#pragma once

#include "stages/convolve/convolve_kernel.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace specklescope::test {

/// Σ_k weight[k]·image[x + c − k] with c = kernel / 2: scipy.ndimage.convolve. omit divides by the sum of the
/// weights that met a pixel; crop starts at the first whole window.
template <class T>
std::vector<double> oracle_convolve(const TestImage<T>& image, const ConvolveKernel& kernel, Border border) {
    const Shape shape = image.shape();
    const bool crop = border == Border::crop;
    const int left = crop ? kernel.width - 1 - kernel.width / 2 : 0;
    const int top = crop ? kernel.height - 1 - kernel.height / 2 : 0;
    const int right = crop ? shape.width - kernel.width / 2 : shape.width;
    const int bottom = crop ? shape.height - kernel.height / 2 : shape.height;
    std::vector<double> result;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
            for (int c = 0; c < shape.channels; ++c) {
                double sum = 0;
                double met = 0;
                for (int j = 0; j < kernel.height; ++j)
                    for (int i = 0; i < kernel.width; ++i) {
                        const int from_x = oracle_index(x + kernel.width / 2 - i, shape.width, border);
                        const int from_y = oracle_index(y + kernel.height / 2 - j, shape.height, border);
                        if (from_x < 0 || from_y < 0)
                            continue;
                        const double weight = kernel.row(kernel.channels == 3 ? c : 0, j)[i];
                        sum += weight * image.at(from_x * shape.channels + c, from_y);
                        met += weight;
                    }
                result.push_back(border == Border::omit ? sum / met : sum);
            }
    return result;
}

/// Positive, not symmetric, sum 1 in each channel.
inline ConvolveKernel random_kernel(int width, int height, int channels, std::mt19937_64& random) {
    ConvolveKernel kernel{width, height, channels, {}};
    std::uniform_real_distribution<double> value(0, 1);
    for (int c = 0; c < channels; ++c) {
        std::vector<double> plane(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
        double sum = 0;
        for (double& weight : plane)
            sum += weight = value(random);
        for (const double weight : plane)
            kernel.weights.push_back(static_cast<float>(weight / sum));
    }
    return kernel;
}

} // namespace specklescope::test
