#include "analysis/pulse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

using Values = std::vector<double>;

constexpr double kLowPass = 8; ///< relative to the pulse: where amplitudes are e^{−1/2}

/// Gaussian mean around each sample; at the ends over the existing samples.
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

/// σ in samples of a Gaussian in time with a transfer of e^{−1/2} at `frequency`.
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

/// Positions of the feet (minima) of the fundamental in a run, in samples.
std::vector<std::size_t> feet_of(const Values& run, double rate, double pulse) {
    constexpr double kInPeriod = 32; // samples per period, enough to find a minimum
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
            if (samples > 1.6 * period) // one between them was missed
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

namespace {

using Values = std::vector<double>;

constexpr double kLeast_s = 3; ///< minimum length of a run for a spectrum

double median_of(std::span<const double> of) {
    Values values(of.begin(), of.end());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Times and values of the frames with a number, in order.
struct Samples {
    Values times, values;
};

/// Samples [begin, end).
struct Part {
    std::size_t begin, end;
};

/// Split where time does not increase, and at gaps of more than kBridgedFrames.
std::vector<Part> parts_of(const Samples& samples, double interval) {
    std::vector<Part> parts;
    std::size_t begin = 0;
    const Values& t = samples.times;
    for (std::size_t i = 1; i <= t.size(); ++i) {
        const bool cut =
            i == t.size() || !(t[i] > t[i - 1]) || t[i] - t[i - 1] > (kBridgedFrames + 1.5) * interval;
        if (!cut)
            continue;
        if (i - begin > 1)
            parts.push_back({begin, i});
        begin = i;
    }
    return parts;
}

/// Equidistant samples of a part by linear interpolation.
Values even_samples(const Samples& samples, const Part& part, double interval) {
    const Values &t = samples.times, &v = samples.values;
    const double begin = t[part.begin];
    const auto steps = static_cast<std::size_t>(std::floor((t[part.end - 1] - begin) / interval + 1e-6));
    Values even;
    even.reserve(steps + 1);
    std::size_t at = part.begin;
    for (std::size_t i = 0; i <= steps; ++i) {
        const double time = begin + static_cast<double>(i) * interval;
        while (at + 2 < part.end && t[at + 1] <= time)
            ++at;
        const double share = std::clamp((time - t[at]) / (t[at + 1] - t[at]), 0.0, 1.0);
        even.push_back(v[at] + share * (v[at + 1] - v[at]));
    }
    return even;
}

/// Larger of the medians on both sides of a peak, without its skirts (a tenth of its frequency, at least
/// three steps) and its second harmonic. Nothing if a side is too short.
std::optional<double> beside(const Values& density, std::size_t peak) {
    constexpr std::size_t kSkirt = 3, kLeast = 4;
    const std::size_t skirt = std::max(kSkirt, (peak + 5) / 10), wide = std::max(kLeast, (peak + 1) / 2);
    if (peak < skirt + 2) // the first value is the mean
        return std::nullopt;
    const std::size_t left_end = peak - skirt + 1, left = left_end - std::min(wide, left_end - 1);
    const std::size_t right = peak + skirt, before_harmonic = 2 * peak - 2;
    const std::size_t right_end =
        std::min(density.size(), std::max(right + kLeast, std::min(right + wide, before_harmonic)));
    if (left_end < left + 2 || right_end < right + 2)
        return std::nullopt;
    const std::span<const double> all(density);
    return std::max(median_of(all.subspan(left, left_end - left)),
                    median_of(all.subspan(right, right_end - right)));
}

/// Harmonic h of m is also one of a smaller number: the second of four is the first of two.
bool is_of_fewer(int h, int m) { return std::gcd(h, m) > 1; }

/// Determines which harmonic of the pulse the largest peak is: the m-th if all lower ones exist too, and
/// those not explained by a smaller m exceed the noise. `over`: height of each peak relative to the
/// neighbouring density.
int harmonic_of(std::size_t peak, const Values& over, std::size_t least, std::size_t segments) {
    constexpr int kMost = 5;
    constexpr double kEach = 2, kMore = 2.5; // noise contains such a comb once in 500 cases
    for (int m = kMost; m >= 2; --m) {
        const double step = static_cast<double>(peak) / m;
        int own = 0;
        double sum = 0, weakest = std::lround(step) < static_cast<long>(least) ? 0 : kEach;
        for (int h = 1; h < m; ++h) {
            const auto at = static_cast<std::size_t>(std::lround(h * step));
            const double height = std::max({over[at - 1], over[at], over[at + 1]});
            weakest = std::min(weakest, height);
            sum += is_of_fewer(h, m) ? 0 : height;
            own += is_of_fewer(h, m) ? 0 : 1;
        }
        if (weakest >= kEach && sum >= least_peak(segments) / 2 + kMore * (own - 1))
            return m;
    }
    return 1;
}

void find_peak(Pulse& pulse) {
    const Spectrum& spectrum = pulse.spectrum;
    const Values& density = spectrum.density;
    std::size_t end = density.size(); // end of the peaks with neighbours
    while (end > 0 && !beside(density, end - 1))
        --end;
    pulse.low_hz = std::max(kLeastPulse_hz, kLeastPeriods * spectrum.step_hz);
    pulse.high_hz =
        std::min(kMostPulse_hz, static_cast<double>(std::max<std::size_t>(end, 1) - 1) * spectrum.step_hz);
    const auto least = static_cast<std::size_t>(std::ceil(pulse.low_hz / spectrum.step_hz * (1 - 1e-9)));
    std::size_t best = 0;
    Values over(density.size());
    for (std::size_t k = std::max<std::size_t>(1, least); k + 1 < density.size(); ++k) {
        if (static_cast<double>(k) * spectrum.step_hz > pulse.high_hz ||
            !(density[k] > density[k - 1] && density[k] >= density[k + 1]))
            continue;
        if (const std::optional<double> around = beside(density, k))
            over[k] = density[k] / *around;
        if (over[k] >= least_peak(spectrum.segments) && (best == 0 || density[k] > density[best]))
            best = k;
    }
    if (pulse.high_hz < pulse.low_hz) {
        pulse.why = "too few values, or frames/s, for a peak and its surroundings";
        return;
    }
    if (best == 0) {
        pulse.peak = *std::max_element(over.begin(), over.end());
        char why[160];
        std::snprintf(why, sizeof why, "no peak from %.2g to %.3g Hz exceeds the noise around it%s",
                      pulse.low_hz, pulse.high_hz,
                      pulse.low_hz > 1.001 * kLeastPulse_hz ? "; a longer trace reaches lower" : "");
        pulse.why = why;
        return;
    }
    const double left = std::log(density[best - 1]), middle = std::log(density[best]),
                 right = std::log(density[best + 1]);
    const double off = (left - right) / (2 * (left - 2 * middle + right));
    pulse.peak = over[best];
    pulse.harmonic = harmonic_of(best, over, least, spectrum.segments);
    pulse.pulse_hz =
        (static_cast<double>(best) + (std::isfinite(off) ? off : 0)) * spectrum.step_hz / pulse.harmonic;
}

/// Why the values have no usable spectrum; empty: they have. For constant values it is rounding noise, which
/// has peaks.
std::string why_no_spectrum(const Values& values) {
    constexpr double kLargest = 1e150; // squares can still be added
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double largest = std::max(std::abs(*low), std::abs(*high));
    return largest > kLargest                  ? "its values are too large to be squared"
           : !(*high - *low > 1e-12 * largest) ? "its values do not change"
                                               : "";
}

} // namespace

Pulse find_pulse(std::span<const double> times, std::span<const double> values) {
    Pulse pulse;
    Samples samples;
    double sum = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (!std::isfinite(times[i]) || !std::isfinite(values[i])) {
            ++pulse.undefined;
            continue;
        }
        samples.times.push_back(times[i]);
        samples.values.push_back(values[i]);
        sum += values[i];
    }
    pulse.samples = samples.values.size();
    if (pulse.samples > 0)
        pulse.mean = sum / static_cast<double>(pulse.samples);
    Values steps;
    for (std::size_t i = 1; i < pulse.samples; ++i)
        if (const double step = samples.times[i] - samples.times[i - 1]; step > 0)
            steps.push_back(step);
    if (steps.empty()) {
        pulse.why = pulse.samples < 2 ? "too few values" : "its times do not advance";
        return pulse;
    }
    // The median distinguishes gaps from steps; the mean is the better interval.
    const double usual = median_of(steps);
    const std::vector<Part> parts = parts_of(samples, usual);
    double frames = 0;
    for (const Part& part : parts) {
        const double span = samples.times[part.end - 1] - samples.times[part.begin];
        pulse.seconds += span;
        double in_part = 0;
        for (std::size_t i = part.begin + 1; i < part.end; ++i)
            in_part += std::max(1.0, std::round((samples.times[i] - samples.times[i - 1]) / usual));
        frames += in_part;
        pulse.bridged += static_cast<std::size_t>(in_part) - (part.end - part.begin - 1);
    }
    pulse.runs = parts.size();
    if (!(frames > 0)) {
        pulse.why = "no two frames follow each other";
        return pulse;
    }
    const double interval = pulse.seconds / frames;
    if (!(interval > 0 && std::isfinite(interval))) {
        pulse.why = "its times lie too far apart";
        return pulse;
    }
    pulse.rate_hz = 1 / interval;
    std::vector<Values> runs;
    Values begins;
    std::size_t longest = 0;
    for (const Part& part : parts) {
        runs.push_back(even_samples(samples, part, interval));
        begins.push_back(samples.times[part.begin]);
        longest = std::max(longest, runs.back().size());
    }
    if (static_cast<double>(longest) * interval < kLeast_s) {
        pulse.why = "no part without a gap is " + std::to_string(static_cast<int>(kLeast_s)) + " s long";
        return pulse;
    }
    if (pulse.rate_hz < 4 * kLeastPulse_hz) {
        pulse.why = "fewer than " + std::to_string(static_cast<int>(4 * kLeastPulse_hz)) + " frames/s";
        return pulse;
    }
    pulse.why = why_no_spectrum(samples.values);
    if (!pulse.why.empty())
        return pulse;
    const auto length = static_cast<std::size_t>(std::lround(kSegment_s * pulse.rate_hz));
    pulse.spectrum = welch_spectrum(runs, pulse.rate_hz, std::min(length, longest));
    find_peak(pulse);
    if (pulse.why.empty())
        measure_beats(runs, begins, pulse);
    return pulse;
}

std::string to_string(const Pulse& pulse) {
    if (!pulse.why.empty())
        return "no pulse: " + pulse.why;
    char text[200];
    std::snprintf(text, sizeof text, "%.3f Hz (%.1f beats/min), ", pulse.pulse_hz, 60 * pulse.pulse_hz);
    std::string all = text;
    if (pulse.harmonic > 1)
        all += "of its harmonic " + std::to_string(pulse.harmonic) + ", ";
    std::snprintf(text, sizeof text, "peak %.3g × the density around it, of %.2g…%.3g Hz", pulse.peak,
                  pulse.low_hz, pulse.high_hz);
    all += text;
    if (pulse.beats.empty())
        return all;
    std::snprintf(
        text, sizeof text, "; pulsatility index %.4g ± %.2g, beats of %.4g ± %.2g s, over %zu of them",
        pulse.pulsatility, pulse.pulsatility_std, pulse.beat_s, pulse.beat_s_std, pulse.beats.size());
    return all + text;
}

} // namespace specklescope
