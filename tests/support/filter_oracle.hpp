// Helpers for oracles of filters, independent of the code under test: pixels outside an image, and the
// weights of a Gaussian.
#pragma once

#include "stages/gaussian/gaussian.hpp"

#include <cmath>
#include <vector>

namespace specklescope::test {

/// numpy.pad's edge, symmetric, wrap, one step at a time; −1: constant 0, or nothing.
inline int oracle_index(int i, int size, Border border) {
    while (i < 0 || i >= size) {
        if (border == Border::replicate)
            i = i < 0 ? 0 : size - 1;
        else if (border == Border::reflect)
            i = i < 0 ? -1 - i : 2 * size - 1 - i;
        else if (border == Border::wrap)
            i = i < 0 ? i + size : i - size;
        else
            return -1;
    }
    return i;
}

/// exp(−i²/2σ²) for |i| up to the radius, by default ⌊4σ + ½⌋ (scipy's truncate = 4), sum 1; or row 2 or 4 of
/// Pascal's triangle.
inline std::vector<double> oracle_taps(const GaussianParams& params) {
    using Method = GaussianParams::Method;
    std::vector<long double> row;
    if (params.method == Method::binomial3 || params.method == Method::binomial5) {
        row = {1};
        for (int n = params.method == Method::binomial3 ? 2 : 4; n > 0; --n) {
            row.push_back(0);
            for (std::size_t i = row.size() - 1; i > 0; --i)
                row[i] += row[i - 1];
        }
    } else {
        const int radius =
            params.radius > 0 ? params.radius : static_cast<int>(std::floor(4 * params.sigma + 0.5));
        const long double sigma = params.sigma;
        for (int i = -radius; i <= radius; ++i)
            row.push_back(std::exp(-(i / sigma) * (i / sigma) / 2));
    }
    long double sum = 0;
    for (const long double weight : row)
        sum += weight;
    std::vector<double> taps;
    for (const long double weight : row)
        taps.push_back(static_cast<double>(weight / sum));
    return taps;
}

} // namespace specklescope::test
