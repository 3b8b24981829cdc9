// Starts of the multi-exposure fit: a grid over 1/τc and ρ. For each the model is known beforehand, so that
// the best start of a pixel is the largest of some scalar products with its K².
#include "stages/mesi/mesi_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

/// (e^−x − 1 + x)/x².
double mixed_curve(double x) {
    if (x > 0.1)
        return (std::expm1(-x) + x) / (x * x);
    double sum = 0;
    for (int k = 12; k >= 0; --k)
        sum = sum * -x + 1 / std::tgamma(k + 3.0);
    return sum;
}

double model(double x, double rho) {
    return 2 * rho * rho * mixed_curve(2 * x) + 4 * rho * (1 - rho) * mixed_curve(x) + (1 - rho) * (1 - rho);
}

constexpr std::array kRhos = {0.3, 0.55, 0.8, 0.96};

} // namespace

MesiTask mesi_task(MesiFree free, double beta, double noise, int iterations, const double* exposures_ms,
                   int count) {
    MesiTask task;
    task.count = count;
    task.iterations = iterations;
    task.beta = static_cast<float>(beta);
    task.noise = static_cast<float>(noise);
    for (int i = 0; i < count; ++i) {
        task.exposures[i] = static_cast<float>(exposures_ms[i]);
        task.inverses[i] = static_cast<float>(1 / exposures_ms[i]);
    }
    const auto [shortest, longest] = std::minmax_element(exposures_ms, exposures_ms + count);
    task.slowest = static_cast<float>(1e-3 / *longest);
    task.fastest = static_cast<float>(1e3 / *shortest);
    const double low = std::log(0.2 / *longest);
    const double high = std::log(5 / *shortest);
    constexpr int kParts = static_cast<int>(kRhos.size());
    constexpr int kRates = MesiTask::kStarts / kParts;
    for (int j = 0; j < MesiTask::kStarts; ++j) {
        MesiStart& start = task.starts[j];
        const int step = j / kParts;
        const double rate = std::exp(low + (high - low) * step / (kRates - 1));
        const double rho = kRhos[static_cast<std::size_t>(j % kParts)];
        std::array<double, kMesiExposures> values{};
        double mean = 0;
        for (int i = 0; i < count; ++i) {
            values[static_cast<std::size_t>(i)] = model(rate * exposures_ms[i], rho);
            mean += values[static_cast<std::size_t>(i)] / count;
        }
        double squares = 0;
        for (int i = 0; i < count; ++i)
            squares += std::pow(values[static_cast<std::size_t>(i)] - (frees_noise(free) ? mean : 0), 2);
        const double length = std::sqrt(squares) + 1e-12;
        start.rate = static_cast<float>(rate);
        start.rho = static_cast<float>(rho);
        start.scale = static_cast<float>(1 / length);
        start.mean = static_cast<float>(mean);
        double offset = frees_beta(free) ? 0 : beta * beta * squares / 2;
        for (int i = 0; i < count; ++i) {
            const double centred = values[static_cast<std::size_t>(i)] - (frees_noise(free) ? mean : 0);
            const double weight = frees_beta(free) ? centred / length : beta * centred;
            start.weights[i] = static_cast<float>(weight);
            offset += frees_noise(free) ? 0 : noise * weight;
        }
        start.offset = static_cast<float>(offset);
    }
    return task;
}

} // namespace specklescope
