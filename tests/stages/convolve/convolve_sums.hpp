// Kernels in float64 for the tests of the device: their results, and as files.
#pragma once

#include "stages/convolve/convolve.hpp"
#include "tests/stages/convolve/convolve_oracle.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <string>
#include <vector>

namespace specklescope::test {

/// Weights of one channel as doubles.
struct Weights {
    int width = 1, height = 1;
    std::vector<double> values = {1};
    double at(int x, int y) const {
        return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)];
    }
};

inline Weights random_weights(int width, int height, std::mt19937_64& random) {
    Weights weights{width, height, {}};
    std::uniform_real_distribution<double> value(0, 1);
    double sum = 0;
    for (int i = 0; i < width * height; ++i) {
        weights.values.push_back(static_cast<double>(static_cast<float>(value(random))));
        sum += weights.values.back();
    }
    for (double& weight : weights.values)
        weight = static_cast<double>(static_cast<float>(weight / sum));
    return weights;
}

inline Weights plane_of(const ConvolveKernel& kernel, int channel) {
    Weights weights{kernel.width, kernel.height, {}};
    const float* first = kernel.row(channel, 0);
    weights.values.assign(first, first + static_cast<std::ptrdiff_t>(kernel.width) * kernel.height);
    return weights;
}

/// The sum for one pixel, over the weights inside the image.
template <class T>
double truth_at(const TestImage<T>& image, const Weights& weights, int x, int y, int channel, Border border) {
    const auto weight = [&](int i, int j) { return weights.at(i, j); };
    return oracle_sum(image, weights.width, weights.height, weight, x, y, channel, border).sum;
}

/// Height × width, or channel × height × width, of float32.
inline void write_npy(const std::string& path, const std::vector<Weights>& planes) {
    const Weights& first = planes.front();
    std::string shape = std::to_string(first.height) + ", " + std::to_string(first.width);
    if (planes.size() > 1)
        shape = std::to_string(planes.size()) + ", " + shape;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    for (const Weights& plane : planes)
        for (const double value : plane.values) {
            const auto weight = static_cast<float>(value);
            bytes.append(reinterpret_cast<const char*>(&weight), sizeof weight);
        }
    write_file(path, bytes);
}

} // namespace specklescope::test
