// Speckle of a round pupil.
#pragma once

#include <cmath>

namespace specklescope {

/// Autocovariance of its intensity at a distance of r px, 1 at 0: [2J₁(u)/u]², for a full width at half
/// maximum of `size` px (Goodman 2007).
inline double round_pupil_covariance(double r, double size) {
    constexpr double kHalf = 1.616339948310703; // [2J₁(u)/u]² = ½
    const double u = 2 * kHalf * r / size;
    const double field = u < 1e-6 ? 1 : 2 * std::cyl_bessel_j(1, u) / u;
    return field * field;
}

} // namespace specklescope
