// Reference for equalised images in integers and float64; and the cases for the tests of host and device.
#pragma once

#include "stages/equalize/equalize.hpp"
#include "tests/support/random.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace specklescope::test {

/// a/b to nearest, ties to even.
inline std::uint64_t round_even(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t quotient = a / b;
    const std::uint64_t rest = a % b;
    return quotient + (2 * rest > b || (2 * rest == b && quotient % 2 == 1) ? 1 : 0);
}

/// r as a fraction, for every bin with a pixel. Empty: the frame stays unchanged.
struct OracleCdf {
    std::map<std::uint64_t, std::uint64_t> above; ///< bin → numerator
    std::uint64_t below = 1;
};

inline OracleCdf oracle_cdf(const std::map<std::uint64_t, std::uint64_t>& histogram,
                            EqualizeParams::Scaling scaling) {
    OracleCdf cdf;
    if (histogram.size() < 2)
        return cdf;
    std::uint64_t sum = 0;
    for (const auto& [bin, count] : histogram) {
        sum += count;
        cdf.above[bin] = sum;
    }
    cdf.below = sum;
    if (scaling == EqualizeParams::Scaling::minmax) {
        const std::uint64_t least = histogram.begin()->second;
        for (auto& [bin, above] : cdf.above)
            above -= least;
        cdf.below -= least;
    }
    return cdf;
}

template <class T> T oracle_v(const TestImage<T>& image, int x, int y) {
    const int channels = image.shape().channels;
    T v = image.at(channels * x, y);
    for (int c = 1; c < channels; ++c)
        v = std::max(v, image.at(channels * x + c, y));
    return channels == 1 ? v : std::max(v, T{0});
}

/// f(x, y) for every pixel.
template <class F> void for_pixels(const Shape& shape, F&& f) {
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            f(x, y);
}

/// u8 and u16: exact.
template <class T>
TestImage<T> oracle_equalize(const TestImage<T>& image, const EqualizeParams& params, double full_scale) {
    const std::uint64_t full = full_scale > 0 ? static_cast<std::uint64_t>(full_scale)
                                              : static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const auto bins = static_cast<std::uint64_t>(params.bins);
    const auto level_at = [&](int x, int y) {
        return std::min(full, static_cast<std::uint64_t>(oracle_v(image, x, y)));
    };
    std::map<std::uint64_t, std::uint64_t> histogram;
    for_pixels(image.shape(), [&](int x, int y) { ++histogram[level_at(x, y) * bins / (full + 1)]; });
    const OracleCdf cdf = oracle_cdf(histogram, params.scaling);
    const auto weight = static_cast<std::uint64_t>(std::lround(params.strength * 65536));
    const int channels = image.shape().channels;
    TestImage<T> result(image.shape().width, image.shape().height, 0, channels);
    for_pixels(image.shape(), [&](int x, int y) {
        const std::uint64_t level = level_at(x, y);
        std::uint64_t new_v = level;
        if (!cdf.above.empty()) {
            const std::uint64_t equalized =
                round_even(cdf.above.at(level * bins / (full + 1)) * full, cdf.below);
            new_v = round_even((65536 - weight) * level + weight * equalized, 65536);
        }
        const auto v = static_cast<std::uint64_t>(oracle_v(image, x, y));
        for (int c = 0; c < channels; ++c) {
            const auto channel = static_cast<std::uint64_t>(image.at(channels * x + c, y));
            result.at(channels * x + c, y) = static_cast<T>(v == 0 ? new_v : round_even(channel * new_v, v));
        }
    });
    return result;
}

/// f32: bins as defined by the stage, in f32; values in float64, compared within rounding.
inline TestImage<float> oracle_equalize(const TestImage<float>& image, const EqualizeParams& params,
                                        double = 0) {
    const int channels = image.shape().channels;
    const auto finite = [&](int x, int y) {
        bool all = true;
        for (int c = 0; c < channels; ++c)
            all = all && std::isfinite(image.at(channels * x + c, y));
        return all;
    };
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    for_pixels(image.shape(), [&](int x, int y) {
        if (finite(x, y)) {
            low = std::min(low, oracle_v(image, x, y));
            high = std::max(high, oracle_v(image, x, y));
        }
    });
    TestImage<float> result = image;
    const double range = static_cast<double>(high) - static_cast<double>(low);
    const float half = range > static_cast<double>(std::numeric_limits<float>::max()) ? 0.5F : 1;
    const float scale = static_cast<float>(params.bins) / (high * half - low * half);
    const auto bin_at = [&](int x, int y) {
        const float place = (oracle_v(image, x, y) * half - low * half) * scale;
        return std::min(static_cast<std::uint64_t>(params.bins - 1), static_cast<std::uint64_t>(place));
    };
    std::map<std::uint64_t, std::uint64_t> histogram;
    if (!(low < high) || !std::isfinite(scale))
        return result;
    for_pixels(image.shape(), [&](int x, int y) {
        if (finite(x, y))
            ++histogram[bin_at(x, y)];
    });
    const OracleCdf cdf = oracle_cdf(histogram, params.scaling);
    for_pixels(image.shape(), [&](int x, int y) {
        if (!finite(x, y))
            return;
        const auto v = static_cast<double>(oracle_v(image, x, y));
        const double r = static_cast<double>(cdf.above.at(bin_at(x, y))) / static_cast<double>(cdf.below);
        const double weight = std::round(params.strength * 65536) / 65536;
        const double new_v = (1 - weight) * v + weight * (static_cast<double>(low) + range * r);
        for (int c = 0; c < channels; ++c) {
            const auto channel = static_cast<double>(image.at(channels * x + c, y));
            const double positive = channels == 1 ? new_v
                                    : v > 0       ? std::max(channel, 0.0) / v * new_v
                                                  : new_v;
            const double negative = channels == 1 ? 0 : (1 - weight) * std::min(channel, 0.0);
            result.at(channels * x + c, y) = static_cast<float>(positive + negative);
        }
    });
    return result;
}

/// An image with many dark and few bright pixels, equal neighbours, black pixels and full scale.
template <class T>
TestImage<T> equalize_picture(int width, int height, int channels, double full, std::mt19937_64& random) {
    std::exponential_distribution<double> value(6);
    TestImage<T> image(width, height, 3, channels);
    image.fill([&] {
        const double sample = std::min(1.0, value(random)) * full;
        return std::is_integral_v<T> ? std::floor(sample) : sample;
    });
    for_pixels(image.shape(), [&](int x, int y) {
        for (int c = 0; c < channels; ++c)
            if ((x + 3 * y) % 11 == 0)
                image.at(channels * x + c, y) = 0;
            else if (x % 7 == 6)
                image.at(channels * x + c, y) = image.at(channels * (x - 1) + c, y);
    });
    return image;
}

/// Numbers around 0, like colour after a dark frame: −3.4…3.9, and one almost black pixel.
inline TestImage<float> negative_picture(int width, int height, std::mt19937_64& random) {
    std::normal_distribution<double> value(0.2, 1);
    TestImage<float> image(width, height, 3, 3);
    image.fill([&] { return std::clamp(value(random), -3.4, 3.9); });
    image.at(0, 0) = 1e-7F;
    image.at(1, 0) = -3.4F;
    image.at(2, 0) = -1;
    for (int c = 0; c < 3; ++c) {
        image.at(3 + c, 0) = -1.0F - static_cast<float>(c);
        image.at(6 + c, 0) = 3.9F;
    }
    return image;
}

struct EqualizeCase {
    int width, height, channels;
    EqualizeParams params;
    double full_scale; ///< 0: the type's
};

inline std::string to_string(const EqualizeCase& c) {
    return std::to_string(c.width) + "×" + std::to_string(c.height) + "×" + std::to_string(c.channels) +
           ", bins " + std::to_string(c.params.bins) + ", scaling " +
           std::to_string(static_cast<int>(c.params.scaling)) + ", strength " +
           std::to_string(c.params.strength) + ", full scale " + std::to_string(c.full_scale);
}

/// Every class of bins, both scalings, strengths, unusual shapes; `full_scales` in rotation.
inline std::vector<EqualizeCase> equalize_cases(const std::vector<double>& full_scales) {
    constexpr double kStrengths[] = {1, 0.3, 0, 1, 0.999};
    std::vector<EqualizeCase> cases;
    for (const int channels : {1, 3})
        for (const auto& [width, height] :
             {std::pair{1, 1}, {1, 9}, {2, 1}, {17, 13}, {67, 35}, {171, 3}, {513, 20}})
            for (const int bins :
                 {2, 3, 100, 255, 256, 257, 1000, 4096, 5000, 8192, 8193, 40000, 65535, 65536})
                for (const auto scaling : {EqualizeParams::Scaling::maxabs, EqualizeParams::Scaling::minmax})
                    cases.push_back(
                        {width,
                         height,
                         channels,
                         {.bins = bins, .scaling = scaling, .strength = kStrengths[cases.size() % 5]},
                         full_scales[cases.size() % full_scales.size()]});
    return cases;
}

template <class T> std::vector<double> equalize_full_scales() {
    if (sizeof(T) == 1)
        return {0, 0, 200};
    if (sizeof(T) == 2)
        return {0, 4095, 1000};
    return {0};
}

} // namespace specklescope::test
