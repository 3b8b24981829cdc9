#include "cuda/gaussian/gaussian_blocks.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <array>

namespace specklescope::cuda {

namespace {

/// At sigma 200 the equations for a mirrored end lose twelve digits.
using Real = long double;
using State = Eigen::Vector<Real, 3>;
using Square = Eigen::Matrix<Real, 3, 3>;

Matrix3 rounded(const Square& a) {
    Matrix3 result;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            result.m[i][j] = static_cast<double>(a(i, j));
    return result;
}

Square power_of(Square base, int exponent) {
    Square power = Square::Identity();
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0)
            power = power * base;
        base = base * base;
    }
    return power;
}

/// One sample of the filter: s ← step·s + gain·x·(1, 1, 1).
Square step_of(const RecursiveGaussian& f) {
    const Real gain = f.gain;
    const Real slope = f.slope;
    const Real curve = f.curve;
    return Square{{1 - gain, 1 - slope, curve}, {-gain, 1 - slope, curve}, {-gain, -slope, curve}};
}

/// response[i]: the state i samples after a unit impulse.
using Responses = std::array<State, kBlockSamples>;

BlockWeights weights_of(const Responses& response, int count) {
    BlockWeights weights;
    for (int c = 0; c < 3; ++c)
        for (int j = 0; j < count; ++j) {
            const auto at = [&](int i, int component) {
                return response[static_cast<std::size_t>(i)][component];
            };
            weights.forward[c][j] = static_cast<float>(at(count - 1 - j, c));
            weights.mirrored[c][j] = static_cast<float>(at(j, c));
            Real sum = 0;
            for (int i = j; i < count; ++i)
                sum += at(i, c) * at(i - j, 0);
            weights.backward[c][j] = static_cast<float>(sum);
        }
    return weights;
}

/// Σ over the block of response[i] × (w of a state i + 1 samples on).
Square through_of(const Responses& response, const Square& step, int count) {
    Square through = Square::Zero();
    Square power = step;
    for (int i = 0; i < count; ++i) {
        through += response[static_cast<std::size_t>(i)] * power.row(0);
        power = power * step;
    }
    return through;
}

/// A line mirrored at its end has a mirrored result: v[N + k] = v[N − 1 − k]. From the backward state after
/// the line s = (v[N], v[N] − v[N+1], v[N] − 2v[N+1] + v[N+2]), three steps back must give v[N], v[N+1] and
/// v[N+2] again: three equations for s from the last three forward results.
Square mirrored_backward_start(const RecursiveGaussian& f) {
    const Square past{{1, 0, 0}, {1, -1, 0}, {1, -2, 1}}; // state → values one, two, three samples back
    const Square step = step_of(f);
    Square system;
    Square known = Square::Zero(); // of the forward values, latest first
    Square power = Square::Identity();
    State response = State::Zero();
    for (int k = 0; k < 3; ++k) {
        response[k] = f.gain * power.row(0).sum();
        power = power * step;
        system.row(k) = past.row(k) - power.row(0);
        for (int j = 0; j <= k; ++j)
            known(k, j) = response[k - j];
    }
    return system.partialPivLu().solve(known * past);
}

} // namespace

LineFilter make_line_filter(const RecursiveGaussian& filter, int size, Border border) {
    LineFilter line;
    line.size = size;
    line.blocks = (size + kBlockSamples - 1) / kBlockSamples;
    line.segment_blocks = std::max(1, (line.blocks - 1 + kLineSegments - 1) / kLineSegments);
    line.segments = (line.blocks - 1 + line.segment_blocks - 1) / line.segment_blocks;
    line.border = border == Border::crop ? Border::replicate : border == Border::omit ? Border::zero : border;
    line.gain = static_cast<float>(filter.gain);
    line.slope = static_cast<float>(filter.slope);
    line.curve = static_cast<float>(filter.curve);

    const Square step = step_of(filter);
    Responses response{};
    response[0].setConstant(filter.gain);
    for (std::size_t i = 1; i < response.size(); ++i)
        response[i] = step * response[i - 1];
    const int counts[2] = {kBlockSamples, size - (line.blocks - 1) * kBlockSamples};
    for (int i = 0; i < 2; ++i) {
        line.weights[i] = weights_of(response, counts[i]);
        line.power[i] = rounded(power_of(step, counts[i]));
        line.through[i] = rounded(through_of(response, step, counts[i]));
    }
    for (int i = 0; i < kSegmentPowers; ++i)
        line.segment[i] = rounded(power_of(step, (line.segment_blocks << i) * kBlockSamples));
    line.first_segment = rounded(power_of(step, line.segment_begin(1) * kBlockSamples));
    const Square one = Square::Identity();
    const Square whole = power_of(step, size);
    line.line = rounded(whole);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            line.backward_start.m[i][j] = filter.backward_start[i][j];
    if (line.border == Border::wrap) {
        line.begin = rounded((one - whole).partialPivLu().inverse());
        line.backward_start = line.begin;
    } else if (line.border == Border::reflect) {
        line.begin = rounded((one - whole * whole).partialPivLu().inverse());
        line.backward_start = rounded(mirrored_backward_start(filter));
    }
    return line;
}

} // namespace specklescope::cuda
