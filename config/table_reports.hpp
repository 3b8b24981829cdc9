// Commands that summarise a table of traces: `specklescope pulse` and `specklescope trials`.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Prints the pulse in the trace of each region, and writes it with its spectrum to --json. Returns the exit
/// status. Throws UsageError or RunError.
int report_pulse(const PulseSettings& settings);

/// Prints a line for each region, and writes the means to --csv. Returns the exit status. Throws UsageError
/// or RunError.
int report_trials(const Settings& settings);

} // namespace specklescope
