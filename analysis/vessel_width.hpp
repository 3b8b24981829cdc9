// The width of a vessel from a profile across it: full width at half depth of a fitted curve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace specklescope {

/// What became of a fit.
enum class WidthFit : std::uint8_t {
    ok,
    too_few,    ///< fewer than kLeastWidthSamples values
    no_vessel,  ///< no depth that stands out of the noise
    cut_off,    ///< a half-depth point lies beyond the line's ends
    not_settled ///< the iteration found no minimum
};
/// "ok", "too few values", "no vessel", "cut off", "not settled".
const char* to_string(WidthFit fit);

inline constexpr std::size_t kLeastWidthSamples = 8;
/// Of a vessel |depth| is so many standard deviations of it at least: more on a short line, of which noise
/// that neighbours share looks like a vessel. From simulations: of lines of 16 to 90 values without a vessel,
/// under noise that up to seven neighbours share, fewer than one in twenty has such a depth.
constexpr double least_depth(std::size_t values) {
    constexpr double kLong = 80;
    return 6 + 9 * std::max(0.0, 1 - static_cast<double>(values) / kLong);
}

/// NaN where the fit is not ok. Standard deviations are those of the fit's covariance.
struct VesselWidth {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double width = kNone, width_std = kNone;   ///< px, between the two points of half depth
    double centre = kNone, centre_std = kNone; ///< px from the first sample
    double baseline = kNone;                   ///< value beside the vessel
    double depth = kNone;                      ///< value in its middle less baseline: below 0 of a dark one
    double edge = kNone;                       ///< px, standard deviation of the edges' blur
    double r2 = kNone;                         ///< part of the values' variance that the curve explains
    WidthFit fit = WidthFit::too_few;
};

/// Fits by least squares (Levenberg 1944, Marquardt 1963) a box between two blurred edges,
///   f(s) = baseline + depth·[Φ((s − c)/σ + u) − Φ((s − c)/σ − u)]/[2Φ(u) − 1],
/// Φ the cumulative normal distribution, u = box/2σ; for u → 0 it is a Gaussian. Its width at half depth is
/// 2σ·t(u) with Φ(t + u) − Φ(t − u) = Φ(u) − ½. The covariance is s²·(JᵀJ)⁻¹·JᵀRJ·(JᵀJ)⁻¹ (White 1980;
/// Newey, West 1987) with the residuals' variance s² and autocorrelations R up to where they first fall below
/// 0: neighbours share pixels. About 2 µs a value.
/// `values` are `spacing` px apart; those that are not finite are left out.
VesselWidth fit_vessel_width(std::span<const double> values, double spacing);

} // namespace specklescope
