// Average of trials: traces in windows around the repetitions of an event.
#pragma once

#include "pipeline/regions/regions.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

struct TrialWindow {
    double before_s = 2, after_s = 10; ///< around the event
    double step_s = 0;                 ///< of the result; 0: the median interval between frames
};

struct TrialPoint {
    double offset_s = 0; ///< from the event to the centre of the bin
    double mean = std::numeric_limits<double>::quiet_NaN();
    /// standard error; NaN with fewer than two trials
    double error = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t trials = 0; ///< with a value here
};

struct Trials {
    std::vector<TrialPoint> points;
    double step_s = 0;
    double before = std::numeric_limits<double>::quiet_NaN(); ///< F₀: the mean of the points before 0
    std::uint64_t used = 0;                                   ///< events with a value in their window
    std::vector<double> whole_missing;                        ///< times of events without values
    std::vector<double> cut_off; ///< times of events whose window exceeds the trace
    std::string why;             ///< why there are no points; empty: there are
};

/// Averages values in bins of `step_s` around each event, half a step on either side of k·step_s including
/// the lower end: in each bin the mean over the frames of one trial, then the mean over trials with its
/// standard error s/√n, s with n − 1. Both means follow those of regions (pipeline/regions): over the squares
/// of K, or over the inverses of c/K², which is the mean of K²; the standard error is converted by the slope
/// (first-order error propagation). An event whose window exceeds the trace is omitted: bins with other
/// trials than F₀ would differ by drift. Values that are not finite are omitted, except that an infinite c/K²
/// is K² = 0; values without a time are omitted. `times` increase; events may be anywhere. `before` is
/// computed in the same way over points.
Trials average_trials(const std::vector<double>& times, const std::vector<double>& values,
                      const std::vector<double>& events, const TrialWindow& window, RegionMean mean);

/// Maximum number of bins: a longer window is refused in `why`.
inline constexpr std::size_t kMostTrialPoints = 1000000;

} // namespace specklescope
