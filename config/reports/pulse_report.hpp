// `specklescope pulse`: the heart's beat in a table of traces, for people and as JSON.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Prints what each region's trace says to standard output, and writes it with its spectrum where --json asks
/// for it. Returns the exit status. Throws UsageError or RunError.
int report_pulse(const PulseSettings& settings);

} // namespace specklescope
