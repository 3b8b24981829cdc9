// The baseline that a run is compared with, before its first frame.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// True if F₀ is requested and has a source.
bool wants_baseline(const Settings& settings);

/// True if the baseline needs only files, which may be read before the source is opened. Always true in a
/// run without a window, which opens a camera twice.
bool baseline_is_of_files(const Settings& settings);

/// Sets settings.baseline from --baseline and --baseline-seconds, with a separate run over that file, or
/// over the beginning of the source. Does nothing without these options. Long work (base/long_work.hpp).
/// - an image without a recording's description, or a .npy, is used directly as F₀, in the unit of the
///   results
/// - results of the same quantity are averaged directly
/// - other files are processed by the chain, as the source, and then averaged
/// Throws UsageError or RunError for other files, or if the size of the image differs.
void take_baseline(Settings& settings);

} // namespace specklescope
