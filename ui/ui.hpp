// The two faces of the program: a window, and a terminal.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// True if a window could be opened here (a display is set and answers). `reason` otherwise.
bool display_available(std::string* reason);

/// Opens the window and returns the exit status when it is closed. Throws UsageError or RunError if the first
/// source cannot be opened; a later one is reported in the window.
int run_viewer(Settings settings);

/// `specklescope run`: no window; progress bar on a terminal, plain lines otherwise. Ctrl-C finishes the
/// files.
int run_headless(const Settings& settings);

/// `view` where no window can be opened: the same for 3 seconds (or --frames), with a picture of the last
/// result in
/// --snapshot or flow.png (never overwritten) and `reason` said in one sentence.
int run_without_display(Settings settings, const std::string& reason);

} // namespace specklescope
