// The baseline that a run is compared with, before its first frame.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// F₀ is asked for, and there is something to take it from.
bool wants_baseline(const Settings& settings);

/// The baseline needs only files, which may be read before the source is opened: always in a run without a
/// window, where a camera is opened twice.
bool baseline_is_of_files(const Settings& settings);

/// Sets settings.baseline as --baseline and --baseline-seconds ask, which takes a run of its own over that
/// file, or over the beginning of the source; nothing where neither does. Long work (base/long_work.hpp).
/// - one picture that no recording says more of, or a .npy, is F₀ as it is, in the unit of the results
/// - results of the same quantity are averaged as they are
/// - anything else goes through the chain, as the source does, and is averaged after it
/// Throws UsageError or RunError where the file is none of these, or the picture is of another size.
void take_baseline(Settings& settings);

} // namespace specklescope
