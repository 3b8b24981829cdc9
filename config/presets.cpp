#include "base/log.hpp"
#include "config/config_file.hpp"
#include "config/data_folder.hpp"
#include "config/presets/preset_file.hpp"
#include "config/presets_data.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "files/input_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// The comment at the top of the file, as one line.
std::string top_comment(std::string_view toml) {
    std::string doc;
    while (toml.starts_with('#')) {
        const std::size_t end = std::min(toml.find('\n'), toml.size());
        const std::size_t begin = std::min(toml.find_first_not_of("# "), end);
        if (!doc.empty())
            doc += ' ';
        doc += toml.substr(begin, end - begin);
        toml.remove_prefix(std::min(end + 1, toml.size()));
    }
    return doc;
}

/// Adds the presets of a folder, in the place of those of the same name.
void read_folder(const fs::path& folder, PresetOrigin origin, std::map<std::string, Preset>& all) {
    std::error_code none; // a folder that is not there holds no presets
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().extension() != ".toml")
            continue;
        try {
            Preset preset = read_preset(entry.path().string(), origin);
            const std::string name = preset.name;
            all.insert_or_assign(name, std::move(preset));
        } catch (const RunError& error) {
            run_log().warn("A preset is left out. {}", error.what());
        }
    }
}

} // namespace

const std::vector<Preset>& compiled_presets() {
    static const std::vector<Preset> list = [] {
        std::vector<Preset> all;
        for (const PresetText& text : preset_texts())
            all.push_back({std::string(text.name), top_comment(text.toml), std::string(text.toml), {}, {}});
        return all;
    }();
    return list;
}

namespace {

std::vector<Preset> read_presets() {
    std::map<std::string, Preset> all;
    for (const Preset& preset : compiled_presets())
        all.emplace(preset.name, preset);
    if (const std::string folder = data_folder(); !folder.empty())
        read_folder(fs::path(folder) / "specklescope" / "presets", PresetOrigin::installed, all);
    if (const std::string folder = user_folder(); !folder.empty())
        read_folder(fs::path(folder) / "presets", PresetOrigin::yours, all);
    std::vector<Preset> ordered;
    ordered.reserve(all.size());
    for (auto& [name, preset] : all)
        ordered.push_back(std::move(preset));
    return ordered;
}

std::vector<Preset>& known_presets() {
    static std::vector<Preset> list = read_presets();
    return list;
}

} // namespace

const std::vector<Preset>& presets() { return known_presets(); }
void refresh_presets() { known_presets() = read_presets(); }

const Preset* find_preset(const std::string& name) {
    const auto& all = presets();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Preset read_preset(const std::string& path, PresetOrigin origin) {
    std::string toml = whole_text(path, kMaxSettingsFile, "preset");
    std::string doc = top_comment(toml);
    return {fs::path(path).stem().string(), std::move(doc), std::move(toml), path, origin};
}

const Preset& known_preset(const std::string& name) {
    const Preset* preset = find_preset(name);
    if (!preset) {
        std::vector<std::string> names;
        for (const Preset& one : presets())
            names.push_back(one.name);
        throw UsageError("There is no preset '" + one_line(name) + "'; allowed: " + join(names) + ".");
    }
    return *preset;
}

void load_preset(const std::string& name, Settings& settings) { load_preset(known_preset(name), settings); }

void load_preset(const Preset& preset, Settings& settings) {
    Settings changed = settings;
    changed.trusted = settings.trusted || preset.origin != PresetOrigin::strange;
    const bool installed = preset.origin == PresetOrigin::installed;
    read_toml(preset.toml, installed ? "preset " + preset.name : preset.file, changed);
    changed.trusted = settings.trusted;
    settings = std::move(changed);
}

} // namespace specklescope
