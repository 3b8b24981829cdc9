// `specklescope bench`: what this machine and this program can do, as tables, JSON and a page.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Measures what settings.bench asks for, prints tables as it goes, writes the files. The exit status: 1 if a
/// result was wrong. `display_available`: whether a window can be opened here, and the reason where not.
int run_bench(const Settings& settings, bool (*display_available)(std::string* reason));

} // namespace specklescope
