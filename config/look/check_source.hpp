// `specklescope check`: reads some frames spread over a source and reports what makes their contrast wrong.
#pragma once

#include "analysis/recording_check.hpp"
#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// Up to three bursts of consecutive frames (begin, middle, end) of a source that can seek; the first frames
/// of others. Throws UsageError, RunError, and Cancelled (base/long_work.hpp).
CheckReport check_source(const SourceArgument& source);

/// "saturation (certain): 0.8 % of …": one line.
std::string to_string(const Finding& finding);

/// Prints the report, and writes it to --json. Returns the exit status: findings are no failure.
int report_check(const CheckSettings& settings);

} // namespace specklescope
