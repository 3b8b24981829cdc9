// Response of a region in an interval: mean, peak, latency, area (docs/science.md, Response).
#pragma once

#include "pipeline/regions/regions.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace specklescope {

struct Response {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double mean = kNone;      ///< over the frames, in the way of the region's mean
    double peak = kNone;      ///< furthest from F₀; without F₀ the largest value
    double latency_s = kNone; ///< from the beginning of the interval to the peak
    double area = kNone;      ///< ∫(F − F₀)dt by trapezoids, unit·s; without F₀ none
    std::uint64_t frames = 0; ///< with a finite value
};

/// `times` (s) increase and lie in the interval that begins at `from_s`. `f0`: none: unknown. `relative`:
/// mean, peak and area in % of F₀, and none of them without F₀. Values that are not finite are left out, but
/// an infinite c/K² counts in the mean as K² = 0.
Response response_of(const std::vector<double>& times, const std::vector<double>& values, double from_s,
                     RegionMean mean, std::optional<double> f0, bool relative);

} // namespace specklescope
