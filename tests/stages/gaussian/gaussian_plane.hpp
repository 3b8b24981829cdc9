// What Gaussian filters must give, in float64 and as plainly as it can be written: lines are extended as far
// as the border says, then filtered with no thought of where they end.
#pragma once

#include "stages/gaussian/gaussian.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <cmath>
#include <vector>

namespace specklescope::test {

/// A picture of flat samples in float64, rows of width × channels.
struct Plane {
    int width = 0, height = 0, channels = 1;
    std::vector<double> samples;
    double& at(int x, int y, int c) {
        return samples[static_cast<std::size_t>((y * width + x) * channels + c)];
    }
    double at(int x, int y, int c) const { return const_cast<Plane&>(*this).at(x, y, c); }
};

template <class T> Plane plane_of(const TestImage<T>& image) {
    const Shape& shape = image.shape();
    Plane plane{shape.width, shape.height, shape.channels, {}};
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width * shape.channels; ++x)
            plane.samples.push_back(static_cast<double>(image.at(x, y)));
    return plane;
}

/// Sample i of the endless line; numpy.pad's edge, symmetric, wrap, and constant 0.
inline double extended(const std::vector<double>& line, int i, Border border) {
    const int n = static_cast<int>(line.size());
    if (i < 0 || i >= n) {
        switch (border) {
        case Border::replicate:
        case Border::crop:
            i = i < 0 ? 0 : n - 1;
            break;
        case Border::wrap:
            i = (i % n + n) % n;
            break;
        case Border::reflect:
            while (i < 0 || i >= n)
                i = i < 0 ? -1 - i : 2 * n - 1 - i;
            break;
        case Border::zero:
        case Border::omit:
            return 0;
        }
    }
    return line[static_cast<std::size_t>(i)];
}

inline std::vector<double> convolved_line(const std::vector<double>& line, const std::vector<double>& taps,
                                          Border border) {
    const int radius = static_cast<int>(taps.size()) / 2;
    std::vector<double> result;
    for (int x = 0; x < static_cast<int>(line.size()); ++x) {
        double sum = 0;
        for (int k = -radius; k <= radius; ++k)
            sum += taps[static_cast<std::size_t>(k + radius)] * extended(line, x + k, border);
        result.push_back(sum);
    }
    return result;
}

/// Young & van Vliet 1995 in the b's of their paper, over a line extended by many sigmas on both sides.
inline std::vector<double> recursive_line(const std::vector<double>& line, double sigma, Border border) {
    using Real = long double;
    const Real s = sigma;
    const Real q = s <= 2.5L ? 3.97156L - 4.14554L * std::sqrt(1 - 0.26891L * s) : 0.98711L * s - 0.96330L;
    const Real b0 = 1.57825L + 2.44413L * q + 1.4281L * q * q + 0.422205L * q * q * q;
    const Real b1 = (2.44413L * q + 2 * 1.4281L * q * q + 3 * 0.422205L * q * q * q) / b0;
    const Real b2 = -(1.4281L * q * q + 3 * 0.422205L * q * q * q) / b0;
    const Real b3 = 0.422205L * q * q * q / b0;
    const Real gain = 1.57825L / b0;
    const int n = static_cast<int>(line.size());
    const int beside = static_cast<int>(25 * sigma) + 30;
    std::vector<Real> all;
    for (int i = -beside; i < n + beside; ++i)
        all.push_back(extended(line, i, border));
    for (int direction = 0; direction < 2; ++direction) {
        Real past[3] = {all[0], all[0], all[0]};
        for (Real& value : all) {
            value = gain * value + b1 * past[0] + b2 * past[1] + b3 * past[2];
            past[2] = past[1];
            past[1] = past[0];
            past[0] = value;
        }
        std::reverse(all.begin(), all.end());
    }
    std::vector<double> result;
    for (int i = 0; i < n; ++i)
        result.push_back(static_cast<double>(all[static_cast<std::size_t>(i + beside)]));
    return result;
}

/// f(line) along every row, then down every column; with omit over what it makes of ones.
template <class F> Plane along_both(Plane plane, bool omit, F&& f) {
    const auto norm = [&](int size) {
        return omit ? f(std::vector<double>(static_cast<std::size_t>(size), 1.0))
                    : std::vector<double>(static_cast<std::size_t>(size), 1.0);
    };
    const std::vector<double> across = norm(plane.width);
    const std::vector<double> down = norm(plane.height);
    std::vector<double> line;
    for (int c = 0; c < plane.channels; ++c) {
        for (int y = 0; y < plane.height; ++y) {
            line.clear();
            for (int x = 0; x < plane.width; ++x)
                line.push_back(plane.at(x, y, c));
            line = f(line);
            for (int x = 0; x < plane.width; ++x)
                plane.at(x, y, c) = line[static_cast<std::size_t>(x)] / across[static_cast<std::size_t>(x)];
        }
        for (int x = 0; x < plane.width; ++x) {
            line.clear();
            for (int y = 0; y < plane.height; ++y)
                line.push_back(plane.at(x, y, c));
            line = f(line);
            for (int y = 0; y < plane.height; ++y)
                plane.at(x, y, c) = line[static_cast<std::size_t>(y)] / down[static_cast<std::size_t>(y)];
        }
    }
    return plane;
}

/// Before rounding; the method must not be automatic.
template <class T> Plane gaussian_oracle(const TestImage<T>& image, const GaussianParams& params) {
    const bool omit = params.border == Border::omit;
    Plane plane;
    if (params.method == GaussianParams::Method::recursive) {
        plane = along_both(plane_of(image), omit, [&](const std::vector<double>& line) {
            return recursive_line(line, params.sigma, params.border);
        });
    } else {
        const std::vector<double> taps = oracle_taps(params);
        plane = along_both(plane_of(image), omit, [&](const std::vector<double>& line) {
            return convolved_line(line, taps, params.border);
        });
    }
    if (params.border != Border::crop)
        return plane;
    const int radius = gaussian_radius(params);
    Plane inner{plane.width - 2 * radius, plane.height - 2 * radius, plane.channels, {}};
    for (int y = 0; y < inner.height; ++y)
        for (int x = 0; x < inner.width; ++x)
            for (int c = 0; c < plane.channels; ++c)
                inner.samples.push_back(plane.at(x + radius, y + radius, c));
    return inner;
}

} // namespace specklescope::test
