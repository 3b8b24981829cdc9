// The beats in a trace whose pulse is known. Used by analysis/pulse.cpp alone.
#pragma once

#include "analysis/pulse.hpp"

#include <vector>

namespace specklescope {

/// The beats of even samples, pulse.rate_hz of them a second, and what they have in common. `begins`: the
/// times of the first samples of the runs.
void measure_beats(const std::vector<std::vector<double>>& runs, const std::vector<double>& begins,
                   Pulse& pulse);

} // namespace specklescope
