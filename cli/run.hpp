#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// `specklescope run`: no window; a progress bar on a terminal, plain lines otherwise. Ctrl-C finishes the
/// files. Returns the exit status.
int run_headless(const Settings& settings);

} // namespace specklescope
