// Models of K² against x = T/τc as the literature writes them, in long double.
#pragma once

#include <array>
#include <cmath>

namespace specklescope::test {

using Real = long double;

/// A model: its key, and K²/β of x and of the dynamic part.
struct Model {
    const char* key;
    Real (*contrast2)(Real x, Real dynamic);
    bool fixed; ///< has a static part
};

/// n = 1: Bandyopadhyay 2005; with static light Parthasarathy 2008.
inline Real lorentzian(Real x, Real p) {
    return p * p * (std::exp(-2 * x) - 1 + 2 * x) / (2 * x * x) +
           4 * p * (1 - p) * (std::exp(-x) - 1 + x) / (x * x) + (1 - p) * (1 - p);
}
/// n = 2: Duncan, Kirkpatrick 2008.
inline Real gaussian(Real x, Real p) {
    const Real pi = std::acos(Real(-1));
    return p * p * (std::exp(-2 * x * x) - 1 + std::sqrt(2 * pi) * x * std::erf(std::sqrt(Real(2)) * x)) /
               (2 * x * x) +
           2 * p * (1 - p) * (std::exp(-x * x) - 1 + std::sqrt(pi) * x * std::erf(x)) / (x * x) +
           (1 - p) * (1 - p);
}
/// n = ½: Postnov 2020.
inline Real root(Real x, Real p) {
    const Real r = std::sqrt(x);
    return p * p * (std::exp(-2 * r) * (4 * x + 6 * r + 3) + 2 * x - 3) / (2 * x * x) +
           8 * p * (1 - p) * (std::exp(-r) * (2 * x + 6 * r + 6) - 6 + x) / (x * x) + (1 - p) * (1 - p);
}
/// Fercher, Briers 1981.
inline Real velocity(Real x, Real) { return -std::expm1(-2 * x) / (2 * x); }

inline const std::array<Model, 4> kModels = {{{"lorentzian", lorentzian, true},
                                              {"gaussian", gaussian, true},
                                              {"sqrt", root, true},
                                              {"velocity", velocity, false}}};

} // namespace specklescope::test
