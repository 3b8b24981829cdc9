// The user's presets: saving, deleting, and comparing them with the current settings.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

enum class PresetOrigin : std::uint8_t {
    installed, ///< or compiled in
    yours,     ///< from the user's folder
    strange,   ///< any other file, checked like an untrusted settings file
};
struct Preset {
    std::string name, doc, toml;
    std::string file; ///< where it was read; "": compiled in
    PresetOrigin origin = PresetOrigin::installed;
    bool yours() const { return origin == PresetOrigin::yours; }
};
/// By name. A file NAME.toml in the user's folder (~/.config/specklescope/presets) replaces an installed one
/// (share/specklescope/presets), which replaces a compiled-in one.
const std::vector<Preset>& presets();
void refresh_presets();                        ///< reads the folders again: references to presets() end
const std::vector<Preset>& compiled_presets(); ///< config/presets/*.toml as they were built
/// Throws UsageError listing the names.
const Preset& known_preset(const std::string& name);
void load_preset(const std::string& name, Settings& settings); ///< the same
void load_preset(const Preset& preset, Settings& settings);
/// Reads a preset from a file. Throws RunError if it cannot be read or is too large.
Preset read_preset(const std::string& path, PresetOrigin origin);

/// Letters, digits, '-' and '_', 64 at most.
bool is_preset_name(const std::string& name);
/// Throws UsageError.
void check_preset_name(const std::string& name);
/// Finds a preset of presets(), valid until they are read again; null: no preset has this name.
const Preset* find_preset(const std::string& name);
/// Path for a preset of this name. Throws UsageError for an invalid name.
std::string preset_path(const std::string& name);
/// Saves chain, range and colours to the user's folder, with `doc` as the description in lists; presets()
/// then includes it. `replace`: may replace an existing file. Throws UsageError or RunError.
void save_preset(const std::string& name, const std::string& doc, const Settings& settings, bool replace);
/// Deletes from the user's folder only. Throws UsageError or RunError.
void delete_preset(const std::string& name);
/// The current settings with the chain, range and colours of a preset. The channel of colour images stays.
struct PresetTaken {
    Settings settings;
    bool ranged = false; ///< the preset has a range of its own
    std::string name;
};
/// Throws UsageError.
PresetTaken with_preset(const Preset& preset, const Settings& now);
/// A line for each thing that load_preset() would change: "speckle: radius 3 → 5".
std::vector<std::string> preset_differences(const std::string& name, const Settings& settings);

/// Preset files as they were when the program was built.
struct PresetText {
    std::string_view name, toml;
};
const std::vector<PresetText>& preset_texts();

} // namespace specklescope
