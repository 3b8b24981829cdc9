#include "sources/synthetic/speckle_field.hpp"

#include "base/long_work.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace specklescope {

double lorentzian_contrast2(double x) {
    if (x < 0.05) // the closed form cancels; Taylor: Σ (−2x)ⁿ·2/(n+2)!
        return 1 + x * (-2.0 / 3 + x * (1.0 / 3 + x * (-2.0 / 15 + x * (2.0 / 45 - x * 4.0 / 315))));
    return (std::expm1(-2 * x) + 2 * x) / (2 * x * x);
}

double lorentzian_skew(double x) {
    const double k = 2 * x;
    if (k < 0.5) { // the closed form cancels; Taylor: 6·Σ (−k)ⁿ/n!/((n+2)(n+3))
        double sum = 0;
        double power = 6;
        for (int n = 0; n < 14; ++n) {
            sum += power / ((n + 2) * (n + 3));
            power *= -k / (n + 1);
        }
        return sum;
    }
    const double e = std::exp(-k);
    return 6 * ((1 - e * (1 + k)) / (k * k) - (2 - e * (k * k + 2 * k + 2)) / (k * k * k));
}

double expected_contrast(double x, double beta) { return std::sqrt(beta * lorentzian_contrast2(x)); }

// --- optics
// ---------------------------------------------------------------------------------------------------

namespace {

constexpr int kPoints = 48; ///< of the integrals over a pixel, along one axis

/// Autocovariance at `pixels` of pixels that average one of standard deviation `sigma` around a point.
double averaged(double pixels, double sigma) {
    double sum = 0;
    for (int i = -kPoints + 1; i < kPoints; ++i) {
        const double d = (pixels + static_cast<double>(i) / kPoints) / sigma;
        sum += (kPoints - std::abs(i)) * std::exp(-0.5 * d * d);
    }
    return sum / (kPoints * kPoints);
}

/// ∫∫∫ μ(a − b)·μ(b − c)·μ(c − a) over a pixel, with |μ|² of standard deviation `sigma`.
double triple(double sigma) {
    std::array<double, kPoints> mu{};
    for (std::size_t i = 0; i < kPoints; ++i)
        mu[i] = std::exp(-0.25 * std::pow(static_cast<double>(i) / kPoints / sigma, 2));
    double sum = 0;
    for (int a = 0; a < kPoints; ++a)
        for (int b = 0; b < kPoints; ++b)
            for (int c = 0; c < kPoints; ++c)
                sum += mu[static_cast<std::size_t>(std::abs(a - b))] *
                       mu[static_cast<std::size_t>(std::abs(b - c))] *
                       mu[static_cast<std::size_t>(std::abs(c - a))];
    return sum / std::pow(kPoints, 3);
}

} // namespace

SpeckleOptics::SpeckleOptics(double speckle) : speckle_(speckle) {
    const double neighbour = std::exp2(-4 / (speckle * speckle));
    double low = 0.01;
    double high = 2 * speckle;
    for (int i = 0; i < 50; ++i) {
        const double sigma = (low + high) / 2;
        (averaged(1, sigma) > neighbour * averaged(0, sigma) ? high : low) = sigma;
    }
    axis_beta_ = averaged(0, low);
    axis_skew_ = triple(low);
    // The taps have the root of the correlation's spectrum.
    constexpr int kLength = 256;
    const auto wave = [](int i, int j) { return std::cos(2 * std::numbers::pi * i * j / kLength); };
    std::vector<double> root(kLength);
    for (int f = 0; f < kLength; ++f) {
        double sum = 0;
        for (int d = -kLength / 2; d < kLength / 2; ++d)
            sum += std::exp2(-2 * d * d / (speckle * speckle)) * wave(f, d);
        root[static_cast<std::size_t>(f)] = std::sqrt(std::max(sum, 0.0));
    }
    const int radius = std::max(4, static_cast<int>(std::ceil(1.8 * speckle)));
    std::vector<double> taps;
    for (int j = -radius; j <= radius; ++j) {
        double sum = 0;
        for (int f = 0; f < kLength; ++f)
            sum += root[static_cast<std::size_t>(f)] * wave(f, j);
        taps.push_back(sum);
    }
    const double energy = std::inner_product(taps.begin(), taps.end(), taps.begin(), 0.0);
    for (const double tap : taps)
        taps_.push_back(static_cast<float>(tap / std::sqrt(energy)));
}

double SpeckleOptics::axis_covariance(int pixels) const {
    return axis_beta_ * std::exp2(-4.0 * pixels * pixels / (speckle_ * speckle_));
}

// --- patterns
// --------------------------------------------------------------------------------------------------

namespace {

constexpr int kBandRows = 64;
constexpr std::size_t kBlock = std::size_t{1} << 18; ///< pixels between two progress reports
constexpr const char* kMaking = "making the speckle of the simulated scene";

/// to[x] = Σ taps[t]·from(t)[x] for x < count.
template <class From>
void weighted_sum(const std::vector<float>& taps, const From& from, int count, float* to) {
    std::fill_n(to, count, 0.0F);
    for (std::size_t t = 0; t < taps.size(); ++t) {
        const float* in = from(static_cast<int>(t));
        const float tap = taps[t];
        for (int x = 0; x < count; ++x)
            to[x] += tap * in[x];
    }
}

int side(int length) { return std::clamp(length, SpeckleBank::kMinSide, SpeckleBank::kMaxSide); }

} // namespace

std::uint64_t SpeckleBank::bytes(int width, int height) {
    return static_cast<std::uint64_t>(side(width)) * static_cast<std::uint64_t>(side(height)) *
           (2 * kFields + kLooks) * sizeof(float);
}

SpeckleBank::SpeckleBank(int width, int height, const SpeckleOptics& optics, std::uint64_t seed)
    : width_(side(width)), height_(side(height)) {
    fill_up(data_, bytes(width, height) / sizeof(float), 0.0F, "making room for the simulated scene");
    for (int plane = 0; plane < 2 * kFields; ++plane)
        make_component(plane, optics, random_bits(seed, static_cast<std::uint64_t>(plane)));
    run_bands(kFields, parallel_threads(), [&](int field, int) { normalise_field(field); });
    for (int k = 0; k < kLooks; ++k)
        make_looks(k, random_bits(seed, 100 + static_cast<std::uint64_t>(k)));
}

void SpeckleBank::make_component(int plane, const SpeckleOptics& optics, std::uint64_t seed) {
    const std::vector<float>& taps = optics.taps();
    const int radius = static_cast<int>(taps.size()) / 2;
    const int bands = (height_ + kBandRows - 1) / kBandRows;
    run_bands(bands, parallel_threads(), [&](int band, int) {
        work_goes_on(kMaking, static_cast<double>(plane * bands + band) / (2 * kFields * bands));
        const int first = band * kBandRows;
        const int rows = std::min(kBandRows, height_ - first);
        const auto width = static_cast<std::size_t>(width_);
        std::vector<float> noise(width + 2 * static_cast<std::size_t>(radius));
        std::vector<float> filtered(width * static_cast<std::size_t>(rows + 2 * radius));
        for (int i = 0; i < rows + 2 * radius; ++i) {
            const int y = (first + i - radius + height_) % height_;
            const std::uint64_t base = static_cast<std::uint64_t>(y) * width;
            for (std::size_t x = 0; x < noise.size(); ++x)
                noise[x] = random_normal(seed, base + (x + width - static_cast<std::size_t>(radius)) % width);
            weighted_sum(
                taps, [&](int t) { return noise.data() + t; }, width_,
                filtered.data() + static_cast<std::size_t>(i) * width);
        }
        for (int i = 0; i < rows; ++i)
            weighted_sum(
                taps, [&](int t) { return filtered.data() + static_cast<std::size_t>(i + t) * width; },
                width_, row(plane, first + i));
    });
}

/// Makes ⟨|z|²⟩ = 1 and ⟨|z|⁴⟩ = 2 over the torus: |z|² grows by a power close to 1.
void SpeckleBank::normalise_field(int field) {
    double power = 0;
    double square = 0;
    float* re = row(2 * field, 0);
    float* im = row(2 * field + 1, 0);
    const std::size_t points = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
    const auto measure = [&](auto&& change) {
        power = square = 0;
        for (std::size_t i = 0; i < points; ++i) {
            if (i % kBlock == 0)
                work_goes_on(kMaking);
            change(i);
            const double p = static_cast<double>(re[i] * re[i] + im[i] * im[i]);
            power += p;
            square += p * p;
        }
        power /= static_cast<double>(points);
        square /= static_cast<double>(points);
    };
    measure([](std::size_t) {});
    // For an exponential distribution, d(⟨|z|⁴⟩/⟨|z|²⟩²)/dε = 2 for |z|² → |z|^{2 + 2ε}.
    const auto half = static_cast<float>((2 - square / (power * power)) / 4);
    measure([&](std::size_t i) { // p^{ε/2} to second order, for the small ε
        const float l = half * std::log(std::max(re[i] * re[i] + im[i] * im[i], 1e-12F));
        const float grow = 1 + l + 0.5F * l * l;
        re[i] *= grow;
        im[i] *= grow;
    });
    const auto scale = static_cast<float>(1 / std::sqrt(power));
    for (std::size_t i = 0; i < points; ++i) {
        re[i] *= scale;
        im[i] *= scale;
    }
}

void SpeckleBank::make_looks(int k, std::uint64_t seed) {
    const auto shift = [&](std::uint64_t i, int length) {
        return static_cast<int>(random_bits(seed, i) % static_cast<std::uint64_t>(length));
    };
    const int slots = parallel_threads();
    for_bands(height_, band_count(height_, slots, 16), slots, [&](Band rows, int) {
        for (int y = rows.begin; y < rows.end; ++y) {
            work_goes_on(kMaking, static_cast<double>(y) / height_);
            float* to = row(2 * kFields + k, y);
            if (k == 0) // one intensity, of a field
                for (int x = 0; x < width_; ++x)
                    to[x] = real(0, y)[x] * real(0, y)[x] + imaginary(0, y)[x] * imaginary(0, y)[x];
            for (std::uint64_t j = 0; k > 0 && j < 4; ++j) { // four of the previous
                const float* from = looks(k - 1, (y + shift(2 * j, height_)) % height_);
                const int dx = shift(2 * j + 1, width_);
                for (int x = 0; x < width_; ++x)
                    to[x] += 0.25F * from[(x + dx) % width_];
            }
        }
    });
    normalise_looks(k);
}

/// Makes the first three cumulants over the torus those of `count` intensities: 1, 1/count and 2/count².
void SpeckleBank::normalise_looks(int k) {
    const double count = std::pow(4, k);
    const std::size_t points = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
    float* values = row(2 * kFields + k, 0);
    const auto means = [&](auto&& change) { // of the first four powers
        std::array<double, 4> sums{};
        for (std::size_t i = 0; i < points; ++i) {
            if (i % kBlock == 0)
                work_goes_on(kMaking);
            values[i] = static_cast<float>(change(static_cast<double>(values[i])));
            double power = 1;
            for (double& sum : sums)
                sum += power *= static_cast<double>(values[i]);
        }
        for (double& sum : sums)
            sum /= static_cast<double>(points);
        return sums;
    };
    const auto standardise = [&](const std::array<double, 4>& m) {
        return means(
            [&, deviation = std::sqrt(m[1] - m[0] * m[0])](double v) { return (v - m[0]) / deviation; });
    };
    const auto before = standardise(means([](double v) { return v - 1; }));
    const double skew = before[2];
    // d⟨g³⟩/dε = 3(⟨g⁴⟩ − 1 − ⟨g³⟩²) for g → g + ε(g² − 1 − ⟨g³⟩g).
    const double bend = (2 / std::sqrt(count) - skew) / (3 * (before[3] - 1 - skew * skew));
    standardise(means([&](double g) { return g + bend * (g * g - 1 - skew * g); }));
    means([&](double g) { return std::max(1 + g / std::sqrt(count), 0.0); }); // light is not negative
}

namespace {

/// Weights of two patterns of M = 4^first and 4M looks with this variance and half third cumulant. One
/// pattern of M looks with variance v has v^{3/2}/√M as the latter; the two share the variance by cos² and
/// sin² of an angle.
std::array<double, 2> two_looks(std::size_t first, double variance, double skew) {
    const double root = std::exp2(static_cast<double>(first)); // √M
    const double target = skew * root / (variance * std::sqrt(variance));
    double low = 0;
    double high = std::atan(2.0); // the sum of cubes decreases until here
    for (int i = 0; i < 30; ++i) {
        const double angle = (low + high) / 2;
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        (c * c * c + s * s * s / 2 > target ? low : high) = angle;
    }
    return {std::sqrt(variance) * root * std::cos(low), std::sqrt(variance) * 2 * root * std::sin(low)};
}

/// The pattern of most looks whose skew for this variance is not less than `skew`; 2 for the last pair.
std::size_t first_look(double variance, double skew) {
    const double target = skew / (variance * std::sqrt(variance));
    return static_cast<std::size_t>(std::clamp(std::floor(-std::log2(target)), 0.0, 2.0));
}

} // namespace

LookWeights look_weights(double mean, double variance, double skew) {
    LookWeights result;
    result.constant = mean;
    if (variance <= 0)
        return result;
    const double whole = variance * std::sqrt(variance);
    skew = std::clamp(skew, whole / 8, whole);
    const std::size_t first = first_look(variance, skew);
    const auto put = [&](std::size_t at, double weight) {
        result.weight[at] += weight;
        result.constant -= weight;
    };
    const double count = std::exp2(2 * static_cast<double>(first));
    std::array<double, 2> pair = two_looks(first, variance, skew);
    if (mean < pair[0] + pair[1]) { // without negative light if this changes the skew by less than 2 %
        const double one = (mean + std::sqrt(std::max(20 * count * variance - 4 * mean * mean, 0.0))) / 5;
        const double four = mean - one;
        const double cubes = (one * one * one + four * four * four / 16) / (count * count);
        if (four >= 0 && cubes < 1.02 * skew)
            pair = {one, four};
    }
    if (first == 2 || mean <= pair[0] + pair[1] + 1e-9) {
        put(first, pair[0]);
        put(first + 1, pair[1]);
        return result;
    }
    // A larger first weight leaves less skew for the rest, which then consists of more looks with larger
    // weights, until no constant light is left.
    double low = pair[0];
    double high = std::sqrt(variance * count);
    const auto rest = [&](double weight) {
        const double v = variance - weight * weight / count;
        const double s = skew - weight * weight * weight / (count * count);
        LookWeights others;
        if (v <= 0 || s < v * std::sqrt(v) / 8)
            return others; // out of reach
        const std::size_t next = std::max(first + 1, first_look(v, s));
        const std::array<double, 2> two = two_looks(next, v, s);
        others.weight[next] = two[0];
        others.weight[next + 1] = two[1];
        others.constant = mean - weight - two[0] - two[1];
        return others;
    };
    for (int i = 0; i < 40; ++i) {
        const double weight = (low + high) / 2;
        (rest(weight).constant > 0 ? low : high) = weight;
    }
    const LookWeights others = rest(low);
    put(first, low);
    for (std::size_t k = first + 1; k < SpeckleBank::kLooks; ++k)
        put(k, others.weight[k]);
    return result;
}

} // namespace specklescope
