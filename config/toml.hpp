// Settings files.
#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace specklescope {

/// TOML: [program] [view] [keys] source, regions, outputs, [[stage]] name = …; UsageError names file and
/// line. All or nothing: on an error the settings stay as they were. What writes or runs something is refused
/// unless the settings are `trusted`.
void load_config(const std::string& path, Settings& settings);
/// The same from text; `name` stands for the file in errors.
void read_toml(std::string_view text, const std::string& name, Settings& settings);
/// The settings that made a recording of results (--config from:FILE): chain, channel, what was shown where
/// its file says it, regions, and the exposure for a source that reports none. Its source is only named in
/// the remarks. All or nothing: throws UsageError, also where the file cannot be read. A stage that reads a
/// file is refused unless the settings are `trusted`.
void load_recorded(const std::string& path, Settings& settings);
/// Writes with mode 0600, and with a reference in place of a secret of the source.
void save_config(const std::string& path, const Settings& settings);
/// Message to show after saving.
std::string saved_text(const std::string& path, const Settings& settings);
/// Chain, range and colours as a preset, `doc` as its comment.
std::string preset_toml(const Settings& settings, const std::string& doc);
/// As save_config's file; also what the viewer remembers between runs. Without `default_chain_too` a chain
/// that nobody chose is left out.
std::string to_toml(const Settings& settings, bool default_chain_too = true);

inline constexpr std::size_t kMaxSettingsFile = std::size_t{1} << 20; ///< bytes; one has a few kB

/// The text of a settings file, or what a pipe brings until it is closed, which can be had once: waiting for
/// that is long work (base/long_work.hpp). Throws RunError, also for an empty one.
std::string config_text(const std::string& path);

} // namespace specklescope
