// Coefficients of the recursive Gaussian, for host and device.
#include "stages/gaussian/gaussian.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

/// If every sample from N on is 0, the forward state changes as s → F·s, so that v[n] = m·s[n] with one row
/// m, and ∇v[n] = v[n] − v[n+1] = m·(1 − F)·s[n]. Inserted into the backward filter: m·(1 + k1·G + k2·G² +
/// k3·G³) = (1, 0, 0) with G = 1 − F.
void set_backward_start(RecursiveGaussian& filter, double k1, double k2, double k3) {
    const double b = filter.gain;
    const double d = filter.slope;
    const double e = filter.curve;
    const Eigen::Matrix3d g{{b, d - 1, -e}, {b, d, -e}, {b, d, (1 + k1 + k2) * b}};
    const Eigen::Matrix3d system = Eigen::Matrix3d::Identity() + k1 * g + k2 * g * g + k3 * g * g * g;
    const Eigen::RowVector3d here =
        system.transpose().partialPivLu().solve(Eigen::Vector3d::UnitX()).transpose();
    Eigen::RowVector3d row = here - here * g; // v[N] = m·F·s = (m − m·G)·s
    for (auto& out : filter.backward_start) {
        std::copy(row.begin(), row.end(), out);
        row = row * g;
    }
}

/// Number of steps until the response to a line of ones that ends here has decayed.
int decay(const RecursiveGaussian& filter, double q) {
    double w = 1;
    double d = 0;
    double e = 0;
    int steps = 0;
    while (std::abs(w) + q * std::abs(d) + q * q * std::abs(e) > 1e-7) {
        e = -filter.gain * w - filter.slope * d + filter.curve * e;
        d += e;
        w += d;
        ++steps;
    }
    return steps;
}

} // namespace

RecursiveGaussian recursive_gaussian(double sigma) {
    if (!(sigma >= 0.5))
        throw UsageError("stage gaussian: sigma = " + to_string(ParamValue{sigma}) +
                         " px is too small for method = recursive; allowed: from 0.5 px, or take method = "
                         "direct.");
    const double q =
        sigma <= 2.5 ? 3.97156 - 4.14554 * std::sqrt(1 - 0.26891 * sigma) : 0.98711 * sigma - 0.96330;
    const double k1 = 2.44413 * q / 1.57825;
    const double k2 = 1.4281 * q * q / 1.57825;
    const double k3 = 0.422205 * q * q * q / 1.57825;
    RecursiveGaussian filter;
    filter.gain = 1 / (1 + k1 + k2 + k3);
    filter.slope = (1 + k1) * filter.gain;
    filter.curve = k3 * filter.gain;
    set_backward_start(filter, k1, k2, k3);
    filter.reach = decay(filter, q);
    return filter;
}

std::vector<double> gaussian_recursive_norms(const RecursiveGaussian& filter, int size) {
    std::vector<double> line(static_cast<std::size_t>(size));
    double w = 0;
    double d = 0;
    double e = 0;
    const auto step = [&](double x) {
        e = filter.gain * (x - w) - filter.slope * d + filter.curve * e;
        d += e;
        return w += d;
    };
    for (double& value : line)
        value = step(1);
    const auto started = [&, state = std::array{w, d, e}](const double(&row)[3]) {
        return row[0] * state[0] + row[1] * state[1] + row[2] * state[2];
    };
    w = started(filter.backward_start[0]);
    d = started(filter.backward_start[1]);
    e = started(filter.backward_start[2]);
    for (std::size_t i = line.size(); i-- > 0;)
        line[i] = step(line[i]);
    return line;
}

} // namespace specklescope
