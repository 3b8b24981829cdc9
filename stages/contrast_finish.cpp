#include "stages/contrast_finish.hpp"

#include "base/round_pupil.hpp"

#include <cmath>
#include <numbers>

namespace specklescope {

WindowCorrelation WindowCorrelation::of_speckle(int radius, double size) {
    const int side = 2 * radius + 1;
    const auto at = [side](int x, int y) {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(side) + static_cast<std::size_t>(x);
    };
    std::vector<double> rho(at(0, side));
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            rho[at(x, y)] = round_pupil_covariance(std::hypot(x, y), size);
    WindowCorrelation mean{.pairs = 0, .squares = 0, .rows = 0, .triples = 0};
    const double n = static_cast<double>(side) * side;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            double row = 0;
            for (int v = 0; v < side; ++v)
                for (int u = 0; u < side; ++u) {
                    const double one = rho[at(std::abs(x - u), std::abs(y - v))];
                    row += one / n;
                    mean.squares += one * one / (n * n);
                }
            mean.pairs += row / n;
            mean.rows += row * row / n;
        }
    // Triples with a Gaussian of the same width, which is a product of rows and columns.
    const auto field = [&](int i, int j) {
        return std::exp(-2 * std::numbers::ln2 * (i - j) * (i - j) / (size * size));
    };
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
            for (int k = 0; k < side; ++k)
                mean.triples += field(i, j) * field(j, k) * field(k, i) / (n * side);
    mean.triples *= mean.triples;
    return mean;
}

WindowCorrelation window_correlation(int radius, double speckle_size) {
    const double side = 2.0 * radius + 1;
    return speckle_size > 0 ? WindowCorrelation::of_speckle(radius, speckle_size)
                            : WindowCorrelation().over(side * side);
}

void ContrastFinish::add(ContrastOutput output, double exposure_ms, const FrameInfo& info, std::byte* data,
                         std::size_t pitch) {
    const ContrastScale whole = contrast_scale(output, samples, exposure_ms, info);
    const double two = contrast_scale(output, 2, exposure_ms, info).c; // N/(N − 1) is 2
    images[count++] = {whole.form, whole.c, two * (whole.form == ContrastForm::inverse ? 2.0 : 0.5), data,
                       pitch};
}

ContrastFinish contrast_corrections(const ContrastExtras& extras, double samples,
                                    const WindowCorrelation& correlation, PixelType type,
                                    const FrameInfo& info) {
    ContrastFinish finish;
    finish.samples = samples;
    finish.corrects = extras.corrects();
    finish.black = extras.black * info.summed;
    finish.gain = extras.gain;
    const bool quantised = extras.removes_noise() && (type != PixelType::f32 || info.summed_integers);
    finish.variance = (extras.read_noise * extras.read_noise + (quantised ? 1.0 / 12 : 0)) * info.summed;
    const double r = correlation.pairs;
    if (extras.speckle_size > 0) {
        finish.share = 1 - r;
        finish.bend = (r * (1 + 3 * r) - 4 * correlation.triples) / (1 - r);
    }
    finish.speckles = correlation.speckles();
    return finish;
}

} // namespace specklescope
