// Reference for speckle results by formula: window by window, without optimisations. Shared by the tests of
// host and device.
#pragma once

#include "stages/speckle/speckle.hpp"
#include "tests/support/filter_oracle.hpp"
#include "tests/support/random.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace specklescope::test {

/// Sums of one window. Integers stay below 2⁵³ and are exact.
struct OracleWindow {
    double sum = 0;         ///< S = ΣI
    double determinant = 0; ///< D = N·ΣI² − S²
    double samples = 0;     ///< N
    bool saturated = false;
};

/// at(x, y): samples of an image of this shape.
template <class At>
auto oracle_samples(const Shape& shape, At&& at, int column, int row, const SpeckleParams& params) {
    using T = std::decay_t<decltype(at(0, 0))>;
    std::vector<T> samples;
    for (int y = row - params.radius; y <= row + params.radius; ++y)
        for (int x = column - params.radius; x <= column + params.radius; ++x) {
            const int from_x = oracle_index(x, shape.width, params.border);
            const int from_y = oracle_index(y, shape.height, params.border);
            const bool outside = from_x < 0 || from_y < 0;
            if (!outside || params.border != Border::omit)
                samples.push_back(outside ? T{0} : at(from_x, from_y));
        }
    return samples;
}

template <class T>
std::vector<T> oracle_samples(const TestImage<T>& image, int column, int row, const SpeckleParams& params) {
    return oracle_samples(
        image.shape(), [&](int x, int y) { return image.at(x, y); }, column, row, params);
}

template <class T> OracleWindow oracle_window(const std::vector<T>& samples, double threshold) {
    OracleWindow window;
    for (const T sample : samples)
        window.saturated |= static_cast<double>(sample) >= threshold;
    const auto n = static_cast<std::int64_t>(samples.size());
    window.samples = static_cast<double>(n);
    if constexpr (std::is_integral_v<T>) {
        std::int64_t sum = 0;
        std::int64_t squares = 0;
        for (const T sample : samples) {
            sum += sample;
            squares += std::int64_t{sample} * sample;
        }
        window.sum = static_cast<double>(sum);
        window.determinant = static_cast<double>(n * squares - sum * sum);
    } else { // long double, in two passes: D = N·Σ(I − ⟨I⟩)²
        long double sum = 0;
        for (const T sample : samples)
            sum += sample;
        const long double mean = sum / n;
        long double deviation = 0;
        for (const T sample : samples)
            deviation += (sample - mean) * (sample - mean);
        window.sum = static_cast<double>(sum);
        window.determinant = static_cast<double>(n * deviation);
    }
    return window;
}

/// docs/science.md: K² as s²/⟨I⟩² with the sample variance s² = D/(N·(N−1)) and ⟨I⟩ = S/N.
inline double oracle_value(const OracleWindow& window, double n, ContrastOutput output, double exposure_s) {
    const double mean = window.sum / n;
    if (window.sum == 0 || n < 2)
        return std::nan("");
    const double k2 = window.determinant / (n * (n - 1)) / (mean * mean);
    switch (output) {
    case ContrastOutput::sfi:
        return 1 / (2 * exposure_s * k2);
    case ContrastOutput::contrast:
        return std::sqrt(k2);
    case ContrastOutput::contrast2:
        return k2;
    case ContrastOutput::tau:
        return 2 * exposure_s * k2;
    case ContrastOutput::bfi:
        return 1 / k2;
    case ContrastOutput::mean:
        return mean;
    case ContrastOutput::error: // tests/stages/contrast_finish_test.cpp
        break;
    }
    return std::nan("");
}
inline double oracle_value(const OracleWindow& window, const SpeckleParams& params, double exposure_s) {
    return oracle_value(window, window.samples, params.output, exposure_s);
}

struct OracleResult {
    int width = 0, height = 0;
    std::vector<double> values;
    PixelCounts counts;
    double at(int x, int y) const {
        return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)];
    }
};

/// Windows of a whole result, row by row: the same for every output.
template <class T> std::vector<OracleWindow>
oracle_windows(const TestImage<T>& image, const SpeckleParams& params, const FrameInfo& info) {
    const int margin = params.border == Border::crop ? params.radius : 0;
    const double full = info.full_scale > 0 ? info.full_scale : type_full_scale(image.shape().type);
    const double threshold = full > 0 ? full : std::numeric_limits<double>::infinity();
    std::vector<OracleWindow> windows;
    for (int y = margin; y < image.shape().height - margin; ++y)
        for (int x = margin; x < image.shape().width - margin; ++x)
            windows.push_back(oracle_window(oracle_samples(image, x, y, params), threshold));
    return windows;
}

/// Uses the exposure of `info` if it has one, else that of params.
inline OracleResult oracle_result(const std::vector<OracleWindow>& windows, const Shape& input,
                                  const SpeckleParams& params, const FrameInfo& info) {
    const int margin = params.border == Border::crop ? params.radius : 0;
    const double exposure_s = (std::isnan(info.exposure_ms) ? params.exposure_ms : info.exposure_ms) / 1000;
    OracleResult result{input.width - 2 * margin, input.height - 2 * margin, {}, {}};
    for (const OracleWindow& window : windows) {
        const double value = oracle_value(window, params, exposure_s);
        result.values.push_back(value);
        result.counts.undefined += std::isnan(value) ? 1 : 0;
        result.counts.infinite += std::isinf(value) ? 1 : 0;
        result.counts.saturated += window.saturated ? 1 : 0;
    }
    return result;
}

template <class T> OracleResult oracle_speckle(const TestImage<T>& image, const SpeckleParams& params,
                                               const FrameInfo& info = {}) {
    return oracle_result(oracle_windows(image, params, info), image.shape(), params, info);
}

/// Relative error of K for any output; +∞ if only one is NaN, 0 or ∞.
inline double contrast_error(double value, double expected, SpeckleParams::Output output) {
    if (std::isnan(value) && std::isnan(expected))
        return 0;
    if (value == expected)
        return 0;
    if (!std::isfinite(value) || !std::isfinite(expected) || value == 0 || expected == 0)
        return std::numeric_limits<double>::infinity();
    const double ratio = value / expected;
    return output == SpeckleParams::Output::contrast ? std::abs(ratio - 1) : std::abs(std::sqrt(ratio) - 1);
}

} // namespace specklescope::test
