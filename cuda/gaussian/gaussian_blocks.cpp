#include "cuda/gaussian/gaussian_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope::cuda {

namespace {

/// At sigma 200 the equations of a mirrored end take twelve digits away.
using Real = long double;
using Row = std::array<Real, 3>;
struct Square {
    Real m[3][3] = {};
};

Matrix3 rounded(const Square& a) {
    Matrix3 result;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            result.m[i][j] = static_cast<double>(a.m[i][j]);
    return result;
}

Square operator*(const Square& a, const Square& b) {
    Square product;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                product.m[i][j] += a.m[i][k] * b.m[k][j];
    return product;
}

Square identity() {
    Square one;
    for (int i = 0; i < 3; ++i)
        one.m[i][i] = 1;
    return one;
}

Square minus(const Square& a, const Square& b) {
    Square difference;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            difference.m[i][j] = a.m[i][j] - b.m[i][j];
    return difference;
}

Square power_of(Square base, int exponent) {
    Square power = identity();
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0)
            power = power * base;
        base = base * base;
    }
    return power;
}

/// Gauss–Jordan with row pivots.
Square inverse(Square a) {
    Square result = identity();
    for (int column = 0; column < 3; ++column) {
        int pivot = column;
        for (int row = column + 1; row < 3; ++row)
            if (std::abs(a.m[row][column]) > std::abs(a.m[pivot][column]))
                pivot = row;
        std::swap(a.m[pivot], a.m[column]);
        std::swap(result.m[pivot], result.m[column]);
        const Real divisor = a.m[column][column];
        for (int j = 0; j < 3; ++j) {
            a.m[column][j] /= divisor;
            result.m[column][j] /= divisor;
        }
        for (int row = 0; row < 3; ++row) {
            const Real factor = a.m[row][column];
            if (row == column)
                continue;
            for (int j = 0; j < 3; ++j) {
                a.m[row][j] -= factor * a.m[column][j];
                result.m[row][j] -= factor * result.m[column][j];
            }
        }
    }
    return result;
}

/// One sample of the filter: s ← step·s + gain·x·(1, 1, 1).
Square step_of(const RecursiveGaussian& f) {
    const Real gain = f.gain;
    const Real slope = f.slope;
    const Real curve = f.curve;
    return {{{1 - gain, 1 - slope, curve}, {-gain, 1 - slope, curve}, {-gain, -slope, curve}}};
}

Row applied(const Square& a, const Row& s) {
    Row result{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            result[i] += a.m[i][j] * s[j];
    return result;
}

/// response[i]: the state i samples after a 1.
using Responses = std::array<Row, kBlockSamples>;

BlockWeights weights_of(const Responses& response, int count) {
    BlockWeights weights;
    for (int c = 0; c < 3; ++c)
        for (int j = 0; j < count; ++j) {
            const auto at = [&](int i, int component) {
                return response[static_cast<std::size_t>(i)][static_cast<std::size_t>(component)];
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
    Square through;
    Square power = step;
    for (int i = 0; i < count; ++i) {
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column)
                through.m[row][column] +=
                    response[static_cast<std::size_t>(i)][static_cast<std::size_t>(row)] * power.m[0][column];
        power = power * step;
    }
    return through;
}

/// A line mirrored at its end gives a mirrored result: v[N + k] = v[N − 1 − k]. With the backward state after
/// the line s = (v[N], v[N] − v[N+1], v[N] − 2v[N+1] + v[N+2]), three steps back from there have to come out
/// as v[N], v[N+1] and v[N+2] again: three equations for s from the last three forward results.
Square mirrored_backward_start(const RecursiveGaussian& f) {
    const Square past = {{{1, 0, 0}, {1, -1, 0}, {1, -2, 1}}}; // state → values one, two, three samples back
    const Square step = step_of(f);
    Square system;
    Square known; // of the forward values, latest first
    Square power = identity();
    std::array<Real, 3> response{};
    for (int k = 0; k < 3; ++k) {
        response[static_cast<std::size_t>(k)] = f.gain * (power.m[0][0] + power.m[0][1] + power.m[0][2]);
        power = power * step;
        for (int j = 0; j < 3; ++j)
            system.m[k][j] = past.m[k][j] - power.m[0][j];
        for (int j = 0; j <= k; ++j)
            known.m[k][j] = response[static_cast<std::size_t>(k - j)];
    }
    return inverse(system) * (known * past);
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
    response[0] = {filter.gain, filter.gain, filter.gain};
    for (std::size_t i = 1; i < response.size(); ++i)
        response[i] = applied(step, response[i - 1]);
    const int counts[2] = {kBlockSamples, size - (line.blocks - 1) * kBlockSamples};
    for (int i = 0; i < 2; ++i) {
        line.weights[i] = weights_of(response, counts[i]);
        line.power[i] = rounded(power_of(step, counts[i]));
        line.through[i] = rounded(through_of(response, step, counts[i]));
    }
    for (int i = 0; i < kSegmentPowers; ++i)
        line.segment[i] = rounded(power_of(step, (line.segment_blocks << i) * kBlockSamples));
    line.first_segment = rounded(power_of(step, line.segment_begin(1) * kBlockSamples));
    const Square whole = power_of(step, size);
    line.line = rounded(whole);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            line.backward_start.m[i][j] = filter.backward_start[i][j];
    if (line.border == Border::wrap) {
        line.begin = rounded(inverse(minus(identity(), whole)));
        line.backward_start = line.begin;
    } else if (line.border == Border::reflect) {
        line.begin = rounded(inverse(minus(identity(), whole * whole)));
        line.backward_start = rounded(mirrored_backward_start(filter));
    }
    return line;
}

} // namespace specklescope::cuda
