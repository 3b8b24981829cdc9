// The window.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// True if a window can be opened here (a display is set and responds). Otherwise `reason` is set.
bool display_available(std::string* reason);

/// Opens the window and returns the exit status after it is closed. Throws UsageError or RunError if the
/// first source or a window cannot be opened; errors of later sources are reported in the window.
int run_viewer(Settings settings);

} // namespace specklescope
