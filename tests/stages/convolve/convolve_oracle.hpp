// Convolution by its formula in float64; shared by the tests of host and device.
#pragma once

#include "stages/convolve/convolve.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace specklescope::test {

struct OracleSum {
    double sum = 0, met = 0; ///< the result; the weights that are inside the image
};

/// Σ_k weight(k)·image[x + c − k] with c = size / 2, for one pixel of one channel: scipy.ndimage.convolve.
template <class T, class Weight> OracleSum oracle_sum(const TestImage<T>& image, int width, int height,
                                                      Weight&& weight, int x, int y, int channel,
                                                      Border border) {
    const Shape& shape = image.shape();
    OracleSum result;
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i) {
            const int from_x = oracle_index(x + width / 2 - i, shape.width, border);
            const int from_y = oracle_index(y + height / 2 - j, shape.height, border);
            if (from_x < 0 || from_y < 0)
                continue;
            const double w = weight(i, j);
            result.sum += w * static_cast<double>(image.at(from_x * shape.channels + channel, from_y));
            result.met += w;
        }
    return result;
}

/// All results. omit divides by the sum of the weights inside the image; crop starts at the first complete
/// window.
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
                const auto weight = [&](int i, int j) -> double {
                    return kernel.row(kernel.channels == 3 ? c : 0, j)[i];
                };
                const OracleSum one = oracle_sum(image, kernel.width, kernel.height, weight, x, y, c, border);
                result.push_back(border == Border::omit ? one.sum / one.met : one.sum);
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
