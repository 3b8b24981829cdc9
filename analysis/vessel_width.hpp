// Width of a vessel from a profile across it: full width at half depth of a fitted curve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace specklescope {

/// Outcome of a fit.
enum class WidthFit : std::uint8_t {
    ok,
    too_few,    ///< fewer than kLeastWidthSamples values
    no_vessel,  ///< no depth above the noise
    cut_off,    ///< a half-depth point is beyond the line's ends
    not_settled ///< the iteration found no minimum
};
/// "ok", "too few values", "no vessel", "cut off", "not settled".
const char* to_string(WidthFit fit);

inline constexpr std::size_t kLeastWidthSamples = 8;
/// Minimum |depth| of a vessel in standard deviations: larger on a short line, where correlated noise
/// resembles a vessel. From simulations: on lines of 16 to 90 values without a vessel, with noise correlated
/// over up to seven neighbours, fewer than one in twenty has such a depth.
constexpr double least_depth(std::size_t values) {
    constexpr double kLong = 80;
    return 6 + 9 * std::max(0.0, 1 - static_cast<double>(values) / kLong);
}

/// NaN unless the fit is ok. Standard deviations are from the fit's covariance.
struct VesselWidth {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double width = kNone, width_std = kNone;   ///< px, between the half-depth points
    double centre = kNone, centre_std = kNone; ///< px from the first sample
    double baseline = kNone;                   ///< value next to the vessel
    double depth = kNone; ///< value at its centre minus baseline: negative for a dark vessel
    double edge = kNone;  ///< px, standard deviation of the edges' blur
    double r2 = kNone;    ///< fraction of the variance explained by the curve
    WidthFit fit = WidthFit::too_few;
};

/// Least-squares fit (Levenberg 1944, Marquardt 1963) of a box with blurred edges,
///   f(s) = baseline + depth·[Φ((s − c)/σ + u) − Φ((s − c)/σ − u)]/[2Φ(u) − 1],
/// Φ the cumulative normal distribution, u = box/2σ; for u → 0 it is a Gaussian. Its width at half depth is
/// 2σ·t(u) with Φ(t + u) − Φ(t − u) = Φ(u) − ½. The covariance is s²·(JᵀJ)⁻¹·JᵀRJ·(JᵀJ)⁻¹ (White 1980; Newey,
/// West 1987) with the residuals' variance s² and autocorrelation R up to the first negative lag, since
/// neighbours share pixels. About 2 µs per value.
/// `values` are `spacing` px apart; those that are not finite are omitted.
VesselWidth fit_vessel_width(std::span<const double> values, double spacing);

} // namespace specklescope
