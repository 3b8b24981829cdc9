// Settings that numbers were made with. Numbers made with different settings are not comparable.
#pragma once

#include "pipeline/result.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Everything besides the scene that changes the values of a result.
struct MadeWith {
    std::shared_ptr<const Chain> chain; ///< null: unknown
    std::string channel{};              ///< grey_channel_of() of the result
    Exposure exposure{};
    double full_scale = 0; ///< 0: none or unknown
};

MadeWith made_with(const Result& result);

/// Relative difference below which exposures are equal: cameras round the reported value.
inline constexpr double kSameExposure = 1e-3;

/// Names the difference with both values: "speckle radius 3, now 6". Empty if there is none. A fact known on
/// only one side is no difference.
std::string difference(const MadeWith& then, const MadeWith& now);

/// Adds facts known only to `more`: a camera may report its exposure after its first frame.
void add_facts(MadeWith& known, const MadeWith& more);

/// "settings changed since the baseline (speckle radius 3, now 6): take it again"; empty if unchanged.
std::string changed_since_baseline(const MadeWith* then, const MadeWith* now);

} // namespace specklescope
