// The window.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// True if a window could be opened here (a display is set and answers). `reason` otherwise.
bool display_available(std::string* reason);

/// Opens the window and returns the exit status when it is closed. Throws UsageError or RunError if the first
/// source, or a window, cannot be opened; a later source is reported in the window.
int run_viewer(Settings settings);

} // namespace specklescope
