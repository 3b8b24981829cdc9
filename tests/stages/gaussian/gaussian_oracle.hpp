// What a Gaussian blur must be, in float64 and by its definition: every pixel outside the image is looked up,
// every tap multiplied. Shared by the tests of host and device.
#pragma once

#include "stages/gaussian/gaussian.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <vector>

namespace specklescope::test {

/// Rows of samples, channels side by side.
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

inline OraclePlane transposed(const OraclePlane& plane) {
    OraclePlane result{plane.height, plane.width, plane.channels, plane.values};
    for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
            for (int c = 0; c < plane.channels; ++c)
                result.at(y, x, c) = plane.at(x, y, c);
    return result;
}

/// One sample of the line that a border makes endless; 0 where nothing is.
inline double oracle_sample(const OraclePlane& plane, int x, int y, int c, Border border) {
    const int from = oracle_index(x, plane.width, border == Border::crop ? Border::replicate : border);
    return from < 0 ? 0 : plane.at(from, y, c);
}

/// Along the rows, by taps. omit: over the taps that meet a pixel.
inline OraclePlane oracle_rows(const OraclePlane& plane, const std::vector<double>& taps, Border border) {
    const int radius = static_cast<int>(taps.size()) / 2;
    OraclePlane result = plane;
    for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
            for (int c = 0; c < plane.channels; ++c) {
                double sum = 0;
                double weight = 0;
                for (int i = -radius; i <= radius; ++i) {
                    const double tap = taps[static_cast<std::size_t>(i + radius)];
                    sum += tap * oracle_sample(plane, x + i, y, c, border);
                    weight += x + i >= 0 && x + i < plane.width ? tap : 0;
                }
                result.at(x, y, c) = border == Border::omit ? sum / weight : sum;
            }
    return result;
}

/// The response of Young & van Vliet's two passes to a single 1, out to where nothing is left: as the paper
/// writes them, u[n] = B·x[n] + b1·u[n−1] + b2·u[n−2] + b3·u[n−3], long double. Symmetric; index 0 is the
/// middle.
inline std::vector<double> oracle_recursive_response(double sigma) {
    const long double s = sigma;
    const long double q =
        s <= 2.5L ? 3.97156L - 4.14554L * std::sqrt(1 - 0.26891L * s) : 0.98711L * s - 0.96330L;
    const long double k1 = 2.44413L * q;
    const long double k2 = 1.4281L * q * q;
    const long double k3 = 0.422205L * q * q * q;
    const long double b0 = 1.57825L + k1 + k2 + k3;
    const long double b[3] = {(k1 + 2 * k2 + 3 * k3) / b0, -(k2 + 3 * k3) / b0, k3 / b0};
    const long double gain = 1.57825L / b0;
    const int reach = static_cast<int>(40 * sigma) + 60;
    const auto filter = [&](const std::vector<long double>& x) {
        std::vector<long double> u(x.size());
        for (std::size_t n = 0; n < x.size(); ++n) {
            u[n] = gain * x[n];
            for (std::size_t k = 1; k <= 3 && k <= n; ++k)
                u[n] += b[k - 1] * u[n - k];
        }
        return u;
    };
    std::vector<long double> line(static_cast<std::size_t>(2 * reach + 1));
    line[static_cast<std::size_t>(reach)] = 1;
    line = filter(line);
    std::reverse(line.begin(), line.end());
    line = filter(line);
    return {line.begin() + reach, line.end()};
}

/// The filter's response as taps, cut where a border of `reach` samples more cannot matter.
inline std::vector<double> oracle_recursive_taps(double sigma) {
    const std::vector<double> half = oracle_recursive_response(sigma);
    std::vector<double> taps(half.rbegin(), half.rend());
    taps.insert(taps.end(), half.begin() + 1, half.end());
    return taps;
}

inline OraclePlane cropped(const OraclePlane& plane, int margin) {
    OraclePlane result{plane.width - 2 * margin, plane.height - 2 * margin, plane.channels, {}};
    for (int y = 0; y < result.height; ++y)
        for (int x = 0; x < result.width; ++x)
            for (int c = 0; c < plane.channels; ++c)
                result.values.push_back(plane.at(x + margin, y + margin, c));
    return result;
}

/// Unrounded. `params.method` names direct, recursive or a binomial.
inline OraclePlane oracle_gaussian(const OraclePlane& plane, const GaussianParams& params) {
    const std::vector<double> taps = params.method == GaussianParams::Method::recursive
                                         ? oracle_recursive_taps(params.sigma)
                                         : oracle_taps(params);
    const OraclePlane down = transposed(oracle_rows(transposed(plane), taps, params.border));
    const OraclePlane both = oracle_rows(down, taps, params.border);
    return params.border == Border::crop ? cropped(both, gaussian_radius(params)) : both;
}

} // namespace specklescope::test
