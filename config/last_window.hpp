// Settings that the window remembers between runs, and which of them apply to another source.
#pragma once

#include "base/source_argument.hpp"
#include "config/settings.hpp"

#include <vector>

namespace specklescope {

/// Path of the file with the source, chain and [view] that the window keeps between runs:
/// $XDG_CONFIG_HOME/specklescope/last.toml. The regions on that source are in regions.json next to it.
std::string remembered_path();
/// A missing or damaged file changes nothing (a damaged file is logged).
void load_remembered(Settings& settings, bool source_only);
/// Does nothing unless settings.remember; a failure is logged, not thrown.
void save_remembered(const Settings& settings);

/// True if both name the same file or camera.
bool same_source(const SourceArgument& a, const SourceArgument& b);

/// For another source the window's chain counts only if it was chosen or changed; otherwise the source
/// decides (Settings::chain_default). `same_source`: it is opened again.
void decide_chain_again(Settings& settings, bool same_source);

/// Removes remembered regions if the source is another one or a file of regions is given; intervals in the
/// first case.
void leave_regions_of_another_picture(const Settings& last, Settings& settings);

/// Removes a remembered pixel size if the source is another one.
void leave_scale_of_another_picture(const Settings& last, Settings& settings);

/// Makes a remembered fixed range automatic if the source has changed, unless the command line sets the
/// range (`given`).
void free_range_of_another_picture(const Settings& last, bool given, Settings& settings);

/// Applies the settings of a named recording, except settings that the user changed when the last window
/// showed the same recording. `named`: empty without a source.
void take_from_source(const SourceArgument& named, Settings& settings);

/// Recent sources from $XDG_CONFIG_HOME/specklescope/recent.toml, newest first. A missing or damaged file is
/// an empty list; damage is logged.
std::vector<SourceArgument> load_recent();
/// Writes absolute paths, and references instead of secrets, with mode 0600. Skips names that TOML cannot
/// represent. Logs failures and does not throw.
void save_recent(const std::vector<SourceArgument>& sources);

} // namespace specklescope
