// The two faces of the program: a window, and a terminal.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// True if a window could be opened here (a display is set and answers). `reason` otherwise.
bool display_available(std::string* reason);

/// Opens the window and returns the exit status when it is closed. Throws UsageError or RunError if the first
/// source, or a window, cannot be opened; a later source is reported in the window.
int run_viewer(Settings settings);

/// `specklescope run`: no window; progress bar on a terminal, plain lines otherwise. Ctrl-C finishes the
/// files.
int run_headless(const Settings& settings);

} // namespace specklescope
