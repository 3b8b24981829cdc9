// `specklescope bench`: measures this machine and this program; tables in the terminal, and JSON.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Measures the work selected by settings.bench, prints tables and writes the JSON. Exit status: 1 if a
/// result was wrong. `display_available`: whether a window can be opened, with the reason if not.
int run_bench(const Settings& settings, bool (*display_available)(std::string* reason));

} // namespace specklescope
