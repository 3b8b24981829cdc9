// Settings that numbers were made with. Numbers made with different settings are not comparable.
#pragma once

#include "pipeline/result.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Everything besides the scene that changes the values of a result.
struct MadeWith {
    std::shared_ptr<const Chain> chain; ///< null: unknown
    std::string channel{};              ///< grey_channel_of() the result
    Exposure exposure{};
    double full_scale = 0; ///< 0: none or unknown
};

MadeWith made_with(const Result& result);

/// Relative difference below which exposures are the same: cameras round what they report.
inline constexpr double kSameExposure = 1e-3;

/// Names what differs, with both values: "speckle radius 3, now 6". Empty where nothing does. A fact that
/// only one side has is no difference.
std::string difference(const MadeWith& then, const MadeWith& now);

/// Takes over facts that only `more` has: a camera may report its exposure later than its first frame.
void add_facts(MadeWith& known, const MadeWith& more);

/// "settings changed since the baseline (speckle radius 3, now 6): take it again"; empty if they did not.
std::string changed_since_baseline(const MadeWith* then, const MadeWith* now);

} // namespace specklescope
