// `specklescope trials`: what the repetitions of an event have in common, for people and as a table.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Prints a line for each region to standard output, and writes the means where --csv asks for it. Returns
/// the exit status. Throws UsageError or RunError.
int report_trials(const Settings& settings);

} // namespace specklescope
