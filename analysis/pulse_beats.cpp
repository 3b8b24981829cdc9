#include "analysis/pulse_beats.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace specklescope {

namespace {

using Values = std::vector<double>;

constexpr double kLowPass = 8; ///< times the pulse: where amplitudes are e^{−1/2}

/// A Gaussian mean about each sample; at the ends of those that there are.
Values smoothed(const Values& values, double sigma) {
    const auto reach = static_cast<std::ptrdiff_t>(std::ceil(4 * sigma));
    Values weights;
    for (std::ptrdiff_t k = 0; k <= reach; ++k)
        weights.push_back(k == 0 ? 1 : std::exp(-static_cast<double>(k * k) / (2 * sigma * sigma)));
    const auto count = static_cast<std::ptrdiff_t>(values.size());
    Values out(values.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        double sum = 0, weight = 0;
        for (std::ptrdiff_t k = std::max(-reach, -i); k <= std::min(reach, count - 1 - i); ++k) {
            const double w = weights[static_cast<std::size_t>(std::abs(k))];
            sum += w * values[static_cast<std::size_t>(i + k)];
            weight += w;
        }
        out[static_cast<std::size_t>(i)] = sum / weight;
    }
    return out;
}

/// σ in samples of a Gaussian in time whose transfer is e^{−1/2} at `frequency`.
double sigma_of(double frequency, double rate) { return rate / (2 * std::numbers::pi * frequency); }

/// Means of `group` samples each.
Values grouped(const Values& values, std::size_t group) {
    Values out;
    for (std::size_t i = 0; i + group <= values.size(); i += group) {
        double sum = 0;
        for (std::size_t k = 0; k < group; ++k)
            sum += values[i + k];
        out.push_back(sum / static_cast<double>(group));
    }
    return out;
}

/// Places of the feet of the fundamental in a run, in samples.
std::vector<std::size_t> feet_of(const Values& run, double rate, double pulse) {
    constexpr double kInPeriod = 32; // samples of it are enough to find a minimum
    const auto group = static_cast<std::size_t>(std::max(1.0, std::floor(rate / pulse / kInPeriod)));
    const Values coarse = grouped(run, group);
    const double slow = rate / static_cast<double>(group);
    const Values upper = smoothed(coarse, sigma_of(pulse, slow));
    const Values lower = smoothed(coarse, sigma_of(0.4 * pulse, slow));
    Values band(coarse.size());
    for (std::size_t i = 0; i < band.size(); ++i)
        band[i] = upper[i] - lower[i];
    const double period = slow / pulse; // samples
    std::vector<std::size_t> found;
    for (std::size_t i = 1; i + 1 < band.size(); ++i) {
        const bool near_end = static_cast<double>(std::min(i, band.size() - 1 - i)) < 0.3 * period;
        if (near_end || !(band[i] < 0 && band[i] < band[i - 1] && band[i] <= band[i + 1]))
            continue;
        if (found.empty() || static_cast<double>(i - found.back()) > 0.6 * period)
            found.push_back(i);
        else if (band[i] < band[found.back()])
            found.back() = i;
    }
    for (std::size_t& foot : found)
        foot = foot * group + group / 2;
    return found;
}

struct Moments {
    double sum = 0, squares = 0;
    std::size_t count = 0;
    void add(double v) {
        sum += v;
        squares += v * v;
        ++count;
    }
    double mean() const { return count > 0 ? sum / static_cast<double>(count) : Pulse::kNone; }
    double std() const {
        const auto n = static_cast<double>(count);
        return count > 1 ? std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1))) : Pulse::kNone;
    }
};

} // namespace

void measure_beats(const std::vector<Values>& runs, const Values& begins, Pulse& pulse) {
    Moments index, length;
    const double rate = pulse.rate_hz, period = rate / pulse.pulse_hz;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const Values& run = runs[r];
        const std::vector<std::size_t> feet = feet_of(run, rate, pulse.pulse_hz);
        const Values calm = smoothed(run, sigma_of(kLowPass * pulse.pulse_hz, rate));
        for (std::size_t i = 1; i < feet.size(); ++i) {
            const double samples = static_cast<double>(feet[i] - feet[i - 1]);
            if (samples > 1.6 * period) // one was not found between them
                continue;
            const auto begin = calm.begin() + static_cast<std::ptrdiff_t>(feet[i - 1]);
            const auto end = calm.begin() + static_cast<std::ptrdiff_t>(feet[i]);
            double sum = 0;
            for (auto v = begin; v != end; ++v)
                sum += *v;
            const auto [low, high] = std::minmax_element(begin, end + 1);
            pulse.beats.push_back({begins[r] + static_cast<double>(feet[i - 1]) / rate, samples / rate,
                                   (*high - *low) / (sum / samples)});
            index.add(pulse.beats.back().pulsatility);
            length.add(samples / rate);
        }
    }
    pulse.pulsatility = index.mean();
    pulse.pulsatility_std = index.std();
    pulse.beat_s = length.mean();
    pulse.beat_s_std = length.std();
}

} // namespace specklescope
