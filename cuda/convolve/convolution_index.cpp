#include "cuda/convolve/convolution_index.hpp"

#include "cuda/convolve/fft_line.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>

namespace specklescope::cuda {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Constant cost per point and axis besides the passes: loading, storing, multiplying (an H200, November
/// 2026: columns of 2240 points take 15 ps per point, of 4096 points 11).
constexpr double kPoint = 40;

bool is_smooth(int n) {
    for (const int prime : {2, 3, 5, 7})
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

double planned_cost(int points, std::size_t shared_bytes) {
    if (points < 1 || points > kLongestLine || !is_smooth(points))
        return kNever;
    const LinePlan plan = line_plan(points);
    const auto bytes = static_cast<std::size_t>(plan.room()) * 2 * sizeof(float);
    return bytes > shared_bytes ? kNever : kPoint + line_cost(plan);
}

} // namespace

DeviceLineCosts device_line_costs(std::size_t shared_bytes) {
    const auto known = std::make_shared<std::map<int, double>>();
    const auto cost = [known, shared_bytes](int points) {
        const auto [entry, isnew] = known->try_emplace(points, 0);
        if (isnew)
            entry->second = planned_cost(points, shared_bytes);
        return entry->second;
    };
    // A row of n real samples is a line of n/2 complex ones.
    return {[cost](int n) { return n % 2 == 0 ? cost(n / 2) : kNever; }, cost};
}

std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count) {
    const auto length = static_cast<std::size_t>(fft);
    std::vector<double> cosines(length);
    for (std::size_t i = 0; i < length; ++i)
        cosines[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / fft);
    const std::size_t middle = taps.size() / 2;
    std::vector<float> spectrum(static_cast<std::size_t>(count));
    for (std::size_t f = 0; f < spectrum.size(); ++f) {
        double sum = 0;
        std::size_t angle = 0;
        for (std::size_t i = 1; i <= middle; ++i) {
            angle += f;
            if (angle >= length)
                angle -= length;
            sum += taps[middle + i] * cosines[angle];
        }
        spectrum[f] = static_cast<float>((taps[middle] + 2 * sum) / fft);
    }
    return spectrum;
}

} // namespace specklescope::cuda
