// The sources that were open lately, kept between runs of the window.
#pragma once

#include "base/source_argument.hpp"

#include <vector>

namespace specklescope {

/// Newest first, out of $XDG_CONFIG_HOME/specklescope/recent.toml. A missing or damaged file is an empty list
/// (a damaged one is said in the log).
std::vector<SourceArgument> load_recent();
/// For nobody else to read (mode 0600), paths made absolute, with references in place of secrets; names that
/// TOML cannot hold are left out. A failure is logged, not thrown.
void save_recent(const std::vector<SourceArgument>& sources);

} // namespace specklescope
