// What repetitions of an event have in common: traces in windows around it, averaged.
#pragma once

#include "pipeline/regions/regions.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

struct TrialWindow {
    double before_s = 2, after_s = 10; ///< around the event
    double step_s = 0;                 ///< of the result; 0: the median of the times between two frames
};

struct TrialPoint {
    double offset_s = 0; ///< from the event to the middle of the bin
    double mean = std::numeric_limits<double>::quiet_NaN();
    double error = std::numeric_limits<double>::quiet_NaN(); ///< standard error; NaN of fewer than two trials
    std::uint64_t trials = 0;                                ///< that had a value here
};

struct Trials {
    std::vector<TrialPoint> points;
    double step_s = 0;
    double before = std::numeric_limits<double>::quiet_NaN(); ///< F₀: the mean of the points in front of 0
    std::uint64_t used = 0;                                   ///< events with a value in their window
    std::vector<double> whole_missing;                        ///< times of events without any
    std::vector<double> cut_off; ///< times of events whose window reaches over an end of the trace
    std::string why;             ///< there are no points; empty: there are
};

/// Values of a trace in bins of `step_s` around each event, half a step to either side of k·step_s, the lower
/// end included: in each bin the mean over the frames of one trial, then the mean over trials with its
/// standard error s/√n, s with n − 1. Both means are taken as those of regions are (pipeline/regions): where
/// the values are K of its squares, where they are c/K² of their inverses, which is the mean of K²; the
/// standard error goes with it by the slope of the conversion (error propagation of the first order). An
/// event whose window the trace does not hold from end to end is left out: bins of other trials than F₀ would
/// differ from it by drift alone. Values that are no numbers are left out; an infinite c/K² is K² = 0. So is
/// what has no time. `times` rise; events lie anywhere. `before` is taken in the same way over points.
Trials average_trials(const std::vector<double>& times, const std::vector<double>& values,
                      const std::vector<double>& events, const TrialWindow& window, RegionMean mean);

/// At most so many bins: a longer window is refused in `why`.
inline constexpr std::size_t kMostTrialPoints = 1000000;

} // namespace specklescope
