// Settings files.
#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace specklescope {

/// Reads TOML: [program] [view] [keys] source, regions, outputs, [[stage]] name = …; UsageError contains
/// file and line. After an error the settings are unchanged. Settings that write or run something are
/// refused unless they are `trusted`.
void load_config(const std::string& path, Settings& settings);
/// The same from text; `name` is the file name in errors.
void read_toml(std::string_view text, const std::string& name, Settings& settings);
/// Loads the settings that made a recording of results (--config from:FILE): chain, channel, display if the
/// file contains it, regions, and the exposure for a source that reports none. A remark names its source.
/// Throws UsageError without any change, also if the file cannot be read. A stage that reads a file is
/// refused unless the settings are `trusted`.
void load_recorded(const std::string& path, Settings& settings);
/// Writes with mode 0600, and with a reference in place of a secret of the source.
void save_config(const std::string& path, const Settings& settings);
/// Message to show after saving.
std::string saved_text(const std::string& path, const Settings& settings);
/// Chain, range and colours as a preset, `doc` as its comment.
std::string preset_toml(const Settings& settings, const std::string& doc);
/// Text of a settings file, also of the last window's. Without `default_chain_too` it omits a default chain
/// (Settings::chain_default).
std::string to_toml(const Settings& settings, bool default_chain_too = true);

inline constexpr std::size_t kMaxSettingsFile = std::size_t{1} << 20; ///< bytes; one has a few kB

/// Text of a settings file, or of a pipe until it is closed, which can be read only once. Waiting for it is
/// long work (base/long_work.hpp). Throws RunError, also for an empty text.
std::string config_text(const std::string& path);

} // namespace specklescope
