#include "stages/gaussian/gaussian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace specklescope {

namespace {

using Method = GaussianParams::Method;

bool is_binomial(Method method) { return method == Method::binomial3 || method == Method::binomial5; }

bool has_sigma(const GaussianParams& params) { return !is_binomial(params.method); }

bool has_radius(const GaussianParams& params) {
    return !is_binomial(params.method) &&
           (params.method != Method::recursive || params.border == Border::crop);
}

using Matrix = std::array<std::array<double, 3>, 3>;
using Row = std::array<double, 3>;

Row multiply(const Row& row, const Matrix& matrix) {
    Row result{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            result[j] += row[i] * matrix[i][j];
    return result;
}

double determinant(const Matrix& m) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/// row·matrix = target, by Cramer's rule.
Row solve(const Matrix& matrix, const Row& target) {
    Row row{};
    for (std::size_t i = 0; i < 3; ++i) {
        Matrix replaced = matrix;
        replaced[i] = target;
        row[i] = determinant(replaced) / determinant(matrix);
    }
    return row;
}

/// Where every sample from N on is 0 the forward state goes s → F·s, so that v[n] = m·s[n] with one row m,
/// and ∇v[n] = v[n] − v[n+1] = m·(1 − F)·s[n]. Put into the backward filter, m·(1 + k1·G + k2·G² + k3·G³) =
/// (1, 0, 0) with G = 1 − F.
void set_turn(RecursiveGaussian& filter, double k1, double k2, double k3) {
    const double b = filter.gain;
    const double d = filter.slope;
    const double e = filter.curve;
    const Matrix g = {{{b, d - 1, -e}, {b, d, -e}, {b, d, (1 + k1 + k2) * b}}};
    Matrix system{};
    for (std::size_t i = 0; i < 3; ++i) {
        Row unit{};
        unit[i] = 1;
        const Row g1 = multiply(unit, g);
        const Row g2 = multiply(g1, g);
        const Row g3 = multiply(g2, g);
        for (std::size_t j = 0; j < 3; ++j)
            system[i][j] = unit[j] + k1 * g1[j] + k2 * g2[j] + k3 * g3[j];
    }
    const Row here = solve(system, {1, 0, 0});
    const Row before = multiply(here, g); // v[N] = m·F·s = (m − m·G)·s
    Row row = {here[0] - before[0], here[1] - before[1], here[2] - before[2]};
    for (auto& out : filter.turn) {
        std::copy(row.begin(), row.end(), out);
        row = multiply(row, g);
    }
}

/// Steps until a line that was 1 and is 0 from here on has died away.
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

/// Whether the recursive filter takes clearly less time than the taps; else the exact result costs the same
/// or less. Host: measured at 3840×2160, one thread; equal at sigma 2.4 (u8), 3.7 (u16), 4.2 (f32), for one
/// channel as for three.
bool recursive_pays_on_host(double sigma, const Shape& input) {
    return sigma >= (input.type == PixelType::u8 ? 3 : input.type == PixelType::u16 ? 4 : 5);
}

/// Device, measured on an H200 in µs for M million samples, any type: taps up to radius 8 take one pass and
/// always less; above, two passes take 8.5 + (10.5 + 0.2·radius)·M, the recursive filter 22 + 5.3·M.
bool recursive_pays_on_device(int radius, const Shape& input) {
    const double samples = static_cast<double>(input.pixels()) * input.channels * 1e-6;
    return radius > 8 && samples * (5.2 + 0.2 * radius) > 13.5;
}

} // namespace

const ParamTable& gaussian_table() {
    static const ParamTable table =
        Declare<GaussianParams>("stage gaussian")
            .real("sigma", &GaussianParams::sigma,
                  {.unit = "px",
                   .min = 0.3,
                   .max = 200,
                   .logarithmic = true,
                   .cost = Cost::rebuild,
                   .visible = has_sigma,
                   .doc = "standard deviation of the Gaussian"})
            .choice("method", &GaussianParams::method,
                    {"auto", "direct", "recursive", "fft", "binomial3", "binomial5"},
                    {.cost = Cost::rebuild,
                     .doc =
                         "direct and fft are exact, recursive approximates at a cost independent of sigma, "
                         "binomial3 and 5 are fixed small kernels, auto takes the fastest"})
            .integer("radius", &GaussianParams::radius,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxGaussianRadius,
                      .cost = Cost::rebuild,
                      .visible = has_radius,
                      .doc = "where the Gaussian is cut off; 0: at 4 sigma"})
            .choice("border", &GaussianParams::border,
                    {"replicate", "reflect", "wrap", "zero", "omit", "crop"},
                    {.cost = Cost::rebuild,
                     .doc = "what lies outside the image; omit: only pixels that exist count; crop: smaller "
                            "image of whole windows"})
            .table();
    return table;
}

int gaussian_radius(const GaussianParams& params) {
    if (is_binomial(params.method))
        return params.method == Method::binomial3 ? 1 : 2;
    return params.radius > 0 ? params.radius : static_cast<int>(std::floor(4 * params.sigma + 0.5));
}

std::vector<double> gaussian_taps(const GaussianParams& params) {
    if (params.method == Method::binomial3)
        return {0.25, 0.5, 0.25};
    if (params.method == Method::binomial5)
        return {0.0625, 0.25, 0.375, 0.25, 0.0625};
    const int radius = gaussian_radius(params);
    std::vector<double> taps;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i) {
        taps.push_back(std::exp(-0.5 * i * i / (params.sigma * params.sigma)));
        sum += taps.back();
    }
    for (double& tap : taps)
        tap /= sum;
    return taps;
}

Shape gaussian_shape(const GaussianParams& params, const Shape& input) {
    if (params.border != Border::crop)
        return input;
    const int radius = gaussian_radius(params);
    const int side = std::min(input.width, input.height);
    if (2 * radius + 1 > side)
        throw UsageError("stage gaussian: border = crop leaves nothing of an image of " +
                         std::to_string(input.width) + "×" + std::to_string(input.height) +
                         " pixels with a radius of " + std::to_string(radius) + " px; allowed: up to " +
                         std::to_string((side - 1) / 2) + " px, take a smaller sigma or radius.");
    Shape output = input;
    output.width -= 2 * radius;
    output.height -= 2 * radius;
    return output;
}

GaussianParams::Method gaussian_method(const GaussianParams& params, const Shape& input, Space space) {
    if (params.method != Method::automatic)
        return params.method;
    if (params.radius != 0) // a cut Gaussian is asked for, which the recursive filter cannot give
        return Method::direct;
    const bool pays = space == Space::host ? recursive_pays_on_host(params.sigma, input)
                                           : recursive_pays_on_device(gaussian_radius(params), input);
    return pays ? Method::recursive : Method::direct;
}

std::string gaussian_note(const GaussianParams& params, GaussianParams::Method method) {
    const std::string name = gaussian_table().at("method").choices[static_cast<std::size_t>(method)];
    return params.method == Method::automatic ? name + " (auto)" : name;
}

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
    set_turn(filter, k1, k2, k3);
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
    const auto turned = [&, state = Row{w, d, e}](const double(&row)[3]) {
        return row[0] * state[0] + row[1] * state[1] + row[2] * state[2];
    };
    w = turned(filter.turn[0]);
    d = turned(filter.turn[1]);
    e = turned(filter.turn[2]);
    for (std::size_t i = line.size(); i-- > 0;)
        line[i] = step(line[i]);
    return line;
}

std::vector<double> gaussian_tap_norms(const std::vector<double>& taps, int size) {
    const int radius = static_cast<int>(taps.size()) / 2;
    std::vector<double> norms;
    for (int x = 0; x < size; ++x) {
        const int first = std::max(0, radius - x);
        const int last = std::min(2 * radius, radius + size - 1 - x);
        norms.push_back(std::accumulate(taps.begin() + first, taps.begin() + last + 1, 0.0));
    }
    return norms;
}

} // namespace specklescope
