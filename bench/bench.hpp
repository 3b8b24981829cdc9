// `specklescope bench`: what this machine and this program can do, as tables, JSON and a page.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// Measures what settings.bench asks for, prints tables as it goes, writes the files. The exit status: 1 if a
/// result was wrong.
int run_bench(const Settings& settings);

} // namespace specklescope
