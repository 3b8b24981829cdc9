// Gaussian blur by definition, in float64, without optimisations: every pixel outside the image is looked up,
// every tap multiplied. Shared by the tests of host and device.
#pragma once

#include "base/parallel.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace specklescope::test {

/// Rows of samples with interleaved channels.
struct OraclePlane {
    int width = 0, height = 0, channels = 1;
    std::vector<double> values;
    double& at(int x, int y, int c) {
        return values[static_cast<std::size_t>((y * width + x) * channels + c)];
    }
    double at(int x, int y, int c) const { return const_cast<OraclePlane*>(this)->at(x, y, c); }
};

template <class T> OraclePlane oracle_plane(const TestImage<T>& image) {
    const Shape& shape = image.shape();
    OraclePlane plane{shape.width, shape.height, shape.channels, {}};
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x)
            plane.values.push_back(static_cast<double>(image.at(x, y)));
    return plane;
}

/// Sample i of the line extended by the border; 0 outside otherwise.
inline double oracle_sample(const std::vector<double>& line, int i, Border border) {
    const int from =
        oracle_index(i, static_cast<int>(line.size()), border == Border::crop ? Border::replicate : border);
    return from < 0 ? 0 : line[static_cast<std::size_t>(from)];
}

inline std::vector<double> oracle_line(const std::vector<double>& line, const std::vector<double>& taps,
                                       Border border) {
    const int radius = static_cast<int>(taps.size()) / 2;
    std::vector<double> result;
    for (int x = 0; x < static_cast<int>(line.size()); ++x) {
        double sum = 0;
        for (int k = -radius; k <= radius; ++k)
            sum += taps[static_cast<std::size_t>(k + radius)] * oracle_sample(line, x + k, border);
        result.push_back(sum);
    }
    return result;
}

/// Samples next to a line after which Young & van Vliet's response has decayed.
inline int oracle_recursive_reach(double sigma) { return static_cast<int>(40 * sigma) + 60; }

/// Young & van Vliet's two passes as in the paper, u[n] = B·x[n] + b1·u[n−1] + b2·u[n−2] + b3·u[n−3], long
/// double, over the line extended on both sides; each starts as if its first sample had always been there.
inline std::vector<double> oracle_recursive_line(const std::vector<double>& line, double sigma,
                                                 Border border) {
    const long double s = sigma;
    const long double q =
        s <= 2.5L ? 3.97156L - 4.14554L * std::sqrt(1 - 0.26891L * s) : 0.98711L * s - 0.96330L;
    const long double k1 = 2.44413L * q;
    const long double k2 = 1.4281L * q * q;
    const long double k3 = 0.422205L * q * q * q;
    const long double b0 = 1.57825L + k1 + k2 + k3;
    const long double b[3] = {(k1 + 2 * k2 + 3 * k3) / b0, -(k2 + 3 * k3) / b0, k3 / b0};
    const long double gain = 1.57825L / b0;
    const int size = static_cast<int>(line.size());
    const int reach = oracle_recursive_reach(sigma);
    std::vector<long double> extended;
    for (int i = -reach; i < size + reach; ++i)
        extended.push_back(oracle_sample(line, i, border));
    for (int pass = 0; pass < 2; ++pass) {
        long double past[3] = {extended[0], extended[0], extended[0]};
        for (long double& value : extended) {
            value = gain * value + b[0] * past[0] + b[1] * past[1] + b[2] * past[2];
            past[2] = past[1];
            past[1] = past[0];
            past[0] = value;
        }
        std::reverse(extended.begin(), extended.end());
    }
    return {extended.begin() + reach, extended.begin() + reach + size};
}

/// Response of the recursive filter to a single 1. Symmetric; index 0 is the centre.
inline std::vector<double> oracle_recursive_response(double sigma) {
    const int reach = oracle_recursive_reach(sigma);
    std::vector<double> line(static_cast<std::size_t>(2 * reach + 1));
    line[static_cast<std::size_t>(reach)] = 1;
    line = oracle_recursive_line(line, sigma, Border::zero);
    return {line.begin() + reach, line.end()};
}

/// filter(line) along every row, then every column; omit: divided by the result for ones.
template <class F> OraclePlane oracle_both_ways(OraclePlane plane, bool omit, F&& filter) {
    const auto along = [&](int lines, int size, auto&& sample) {
        const std::vector<double> ones(static_cast<std::size_t>(size), 1.0);
        const std::vector<double> norm = omit ? filter(ones) : ones;
        for (int c = 0; c < plane.channels; ++c)
            run_bands(lines, all_threads(), [&](int i, int) {
                std::vector<double> line;
                for (int k = 0; k < size; ++k)
                    line.push_back(sample(i, k, c));
                line = filter(line);
                for (int k = 0; k < size; ++k)
                    sample(i, k, c) = line[static_cast<std::size_t>(k)] / norm[static_cast<std::size_t>(k)];
            });
    };
    along(plane.height, plane.width, [&](int y, int x, int c) -> double& { return plane.at(x, y, c); });
    along(plane.width, plane.height, [&](int x, int y, int c) -> double& { return plane.at(x, y, c); });
    return plane;
}

inline OraclePlane oracle_cropped(const OraclePlane& plane, int margin) {
    OraclePlane result{plane.width - 2 * margin, plane.height - 2 * margin, plane.channels, {}};
    for (int y = 0; y < result.height; ++y)
        for (int x = 0; x < result.width; ++x)
            for (int c = 0; c < plane.channels; ++c)
                result.values.push_back(plane.at(x + margin, y + margin, c));
    return result;
}

/// Unrounded. `params.method` is direct, recursive or a binomial.
inline OraclePlane oracle_gaussian(const OraclePlane& plane, const GaussianParams& params) {
    const bool recursive = params.method == GaussianParams::Method::recursive;
    const std::vector<double> taps = recursive ? std::vector<double>() : oracle_taps(params);
    OraclePlane both =
        oracle_both_ways(plane, params.border == Border::omit, [&](const std::vector<double>& line) {
            return recursive ? oracle_recursive_line(line, params.sigma, params.border)
                             : oracle_line(line, taps, params.border);
        });
    return params.border == Border::crop ? oracle_cropped(both, gaussian_radius(params)) : both;
}
template <class T> OraclePlane oracle_gaussian(const TestImage<T>& image, const GaussianParams& params) {
    return oracle_gaussian(oracle_plane(image), params);
}

} // namespace specklescope::test
