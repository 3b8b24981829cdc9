// Command line and manual.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace specklescope {

/// Result of reading the command line: either settings, or text to print and an exit status.
struct ParseOutcome {
    Settings settings;
    bool exit = false;
    int status = 0;
    std::string text; ///< to stdout when status is 0
};
/// Throws UsageError. Later words win over --config, --config over --preset.
ParseOutcome parse_command_line(int argc, const char* const* argv);

/// The manual from the declarations: "" or "markdown" (docs/manual.md), or "man" (specklescope.1, for
/// groff). Throws UsageError for other formats. Lists only the compiled-in presets.
std::string manual(const std::string& format = "");

} // namespace specklescope
