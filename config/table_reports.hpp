// Commands that summarise a table of traces: `specklescope pulse` and `specklescope trials`.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Prints what each region's trace says to standard output, and writes it with its spectrum where --json asks
/// for it. Returns the exit status. Throws UsageError or RunError.
int report_pulse(const PulseSettings& settings);

/// Prints a line for each region to standard output, and writes the means where --csv asks for it. Returns
/// the exit status. Throws UsageError or RunError.
int report_trials(const Settings& settings);

} // namespace specklescope
