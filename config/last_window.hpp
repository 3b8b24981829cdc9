// What the window remembers between runs, and what of it holds for the source that is named now.
#pragma once

#include "base/source_argument.hpp"
#include "config/settings.hpp"

#include <vector>

namespace specklescope {

/// Remembered regions belong to the picture that they were drawn on, and give way to those of a file.
void leave_regions_of_another_picture(const Settings& last, Settings& settings);

/// A remembered size of a pixel belongs to the source that it was given for.
void leave_scale_of_another_picture(const Settings& last, Settings& settings);

/// A remembered fixed range belongs to the picture that it was set on. `given`: the line says what it is.
void free_range_of_another_picture(const Settings& last, bool given, Settings& settings);

/// A recording that is named is shown with its own settings; what the last window left of the very same one
/// has been changed since. `named`: empty where no source is.
void take_from_source(const SourceArgument& named, Settings& settings);

/// Newest first, out of $XDG_CONFIG_HOME/specklescope/recent.toml. A missing or damaged file is an empty list
/// (a damaged one is said in the log).
std::vector<SourceArgument> load_recent();
/// For nobody else to read (mode 0600), paths made absolute, with references in place of secrets; names that
/// TOML cannot hold are left out. A failure is logged, not thrown.
void save_recent(const std::vector<SourceArgument>& sources);

} // namespace specklescope
