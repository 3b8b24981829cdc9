#include "analysis/trials.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

/// Converts to the averaged form, and back with a standard error.
double to_mean(double value, RegionMean mean) {
    return mean == RegionMean::of_squares    ? value * value
           : mean == RegionMean::of_inverses ? 1 / value
                                             : value;
}
double from_mean(double value, RegionMean mean) {
    return mean == RegionMean::of_squares    ? std::sqrt(value)
           : mean == RegionMean::of_inverses ? 1 / value
                                             : value;
}
/// |d from_mean/dx| at x.
double slope(double x, RegionMean mean) {
    return mean == RegionMean::of_squares    ? 0.5 / std::sqrt(x)
           : mean == RegionMean::of_inverses ? 1 / (x * x)
                                             : 1;
}

/// Mean and sum of squared differences (Welford 1962).
struct BinMoments {
    std::uint64_t count = 0;
    double mean = 0, squares = 0;
    void add(double value) {
        ++count;
        const double off = value - mean;
        mean += off / static_cast<double>(count);
        squares += off * (value - mean);
    }
};

double median_step(const std::vector<double>& times) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < times.size(); ++i)
        if (times[i] > times[i - 1])
            steps.push_back(times[i] - times[i - 1]);
    if (steps.empty())
        return 0;
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
}

} // namespace

Trials average_trials(const std::vector<double>& all_times, const std::vector<double>& all_values,
                      const std::vector<double>& events, const TrialWindow& window, RegionMean mean) {
    Trials result;
    std::vector<double> times, values;
    for (std::size_t i = 0; i < all_times.size(); ++i)
        if (std::isfinite(all_times[i])) {
            times.push_back(all_times[i]);
            values.push_back(all_values[i]);
        }
    result.step_s = window.step_s > 0 ? window.step_s : median_step(times);
    if (events.empty())
        result.why = "there is no event";
    else if (times.empty() || !(result.step_s > 0))
        result.why = "there are fewer than two frames";
    else if ((window.before_s + window.after_s) / result.step_s > static_cast<double>(kMostTrialPoints))
        result.why = "the window has more than " + std::to_string(kMostTrialPoints) + " steps";
    if (!result.why.empty())
        return result;
    constexpr double kRounding = 1e-9; // of a step: 2 s at 0.1 s are 20 steps
    const auto first = -static_cast<std::int64_t>(std::floor(window.before_s / result.step_s + kRounding));
    const auto last = static_cast<std::int64_t>(std::floor(window.after_s / result.step_s + kRounding));
    const auto bins = static_cast<std::size_t>(last - first + 1);
    const auto bin_of = [&](double offset) {
        constexpr double kFar = 1e9; // beyond any bin, and fits 64-bit integers
        const double step = std::floor(offset / result.step_s + 0.5 + kRounding);
        return static_cast<std::int64_t>(std::clamp(step, -kFar, kFar)) - first;
    };
    std::vector<BinMoments> over_trials(bins), trial(bins);
    const auto reaches_over = [&](double event) { // no frame can be in the first or the last bin
        return event + (static_cast<double>(first) + 0.5) * result.step_s < times.front() ||
               event + (static_cast<double>(last) - 0.5) * result.step_s > times.back();
    };
    for (const double event : events) {
        if (std::isnan(event)) {
            result.whole_missing.push_back(event);
            continue;
        }
        if (reaches_over(event)) {
            result.cut_off.push_back(event);
            continue;
        }
        std::fill(trial.begin(), trial.end(), BinMoments());
        const double begin = event + (static_cast<double>(first) - 1) * result.step_s;
        bool any = false;
        for (auto at = std::lower_bound(times.begin(), times.end(), begin);
             at != times.end() && bin_of(*at - event) < static_cast<std::int64_t>(bins); ++at) {
            const std::int64_t bin = bin_of(*at - event);
            const double value = to_mean(values[static_cast<std::size_t>(at - times.begin())], mean);
            if (bin < 0 || !std::isfinite(value))
                continue;
            trial[static_cast<std::size_t>(bin)].add(value);
            any = true;
        }
        for (std::size_t i = 0; i < bins; ++i)
            if (trial[i].count > 0)
                over_trials[i].add(trial[i].mean);
        if (any)
            ++result.used;
        else
            result.whole_missing.push_back(event);
    }
    if (result.used == 0) {
        result.why = result.cut_off.empty() ? "no frame lies in the window of any event"
                                            : "no event has its whole window within the trace";
        return result;
    }
    BinMoments before;
    for (std::size_t i = 0; i < bins; ++i) {
        TrialPoint point;
        const BinMoments& moments = over_trials[i];
        const std::int64_t place = first + static_cast<std::int64_t>(i);
        point.offset_s = static_cast<double>(place) * result.step_s;
        point.trials = moments.count;
        if (moments.count > 0)
            point.mean = from_mean(moments.mean, mean);
        if (moments.count > 0 && place < 0)
            before.add(moments.mean);
        if (moments.count > 1) {
            const auto n = static_cast<double>(moments.count);
            point.error = std::sqrt(moments.squares / (n - 1) / n) * slope(moments.mean, mean);
        }
        result.points.push_back(point);
    }
    if (before.count > 0)
        result.before = from_mean(before.mean, mean);
    return result;
}

} // namespace specklescope
