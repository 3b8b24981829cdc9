// Presets: compiled in, installed, and the user's own.
#include "config/presets/preset_file.hpp"

#include "base/log.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "config/toml.hpp"
#include "files/input_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
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

/// Adds the presets of a folder; they replace presets of the same name.
void read_folder(const fs::path& folder, PresetOrigin origin, std::map<std::string, Preset>& all) {
    std::error_code none; // a missing folder has no presets
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().extension() != ".toml")
            continue;
        try {
            Preset preset = read_preset(entry.path().string(), origin);
            const std::string name = preset.name;
            all.insert_or_assign(name, std::move(preset));
        } catch (const RunError& error) {
            run_log().warn("A preset was not loaded. {}", error.what());
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

namespace {

namespace fs = std::filesystem;

void add_changes(const std::string& owner, const Params& now, const Params& then,
                 std::vector<std::string>& lines) {
    const auto text = [](const Params& params, const std::string& name) {
        const std::string value = to_string(params.get(name));
        return value.empty() ? std::string("\"\"") : value;
    };
    for (const ParamDecl& decl : now.table().decls())
        if (decl.kind != ParamKind::action && (now.visible(decl) || then.visible(decl)) &&
            now.get(decl.name) != then.get(decl.name))
            lines.push_back(owner + ": " + decl.name + " " + text(now, decl.name) + " → " +
                            text(then, decl.name));
}

/// Range of the preset, independent of the present settings.
bool says_range(const Preset& preset, const Settings& now) {
    const auto loaded_over = [&](double most) {
        Settings other = now;
        auto& mapping = other.view.as<ViewSettings>().mapping;
        mapping.low = -most; // below any value of the other end
        mapping.high = most;
        load_preset(preset, other);
        const auto& loaded = other.view.as<ViewSettings>().mapping;
        return std::pair(loaded.low, loaded.high);
    };
    return loaded_over(1e299) == loaded_over(1e300);
}

std::string names_of(const Chain& chain) {
    std::vector<std::string> names;
    for (const ChainStage& stage : chain.stages())
        names.emplace_back(stage.type->name);
    return names.empty() ? "none" : join(names, " | ");
}

} // namespace

bool is_preset_name(const std::string& name) {
    constexpr std::size_t kLongest = 64;
    return !name.empty() && name.size() <= kLongest &&
           std::all_of(name.begin(), name.end(), [](unsigned char c) {
               return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_');
           });
}

void check_preset_name(const std::string& name) {
    if (!is_preset_name(name))
        throw UsageError("'" + one_line(name) +
                         "' is not a valid preset name; allowed: letters, digits, '-' and '_', 64 at most.");
}

std::string preset_path(const std::string& name) {
    check_preset_name(name);
    const std::string folder = user_folder();
    if (folder.empty())
        throw UsageError("No folder for presets: neither XDG_CONFIG_HOME nor HOME is set.");
    return folder + "/presets/" + name + ".toml";
}

void save_preset(const std::string& name, const std::string& doc, const Settings& settings, bool replace) {
    const std::string path = preset_path(name);
    std::error_code ignored;
    if (!replace && fs::exists(path, ignored))
        throw UsageError("A preset '" + name + "' exists already. Replace it, or choose another name.");
    try {
        fs::create_directories(fs::path(path).parent_path());
    } catch (const fs::filesystem_error& error) {
        throw RunError("The preset folder cannot be created: " + one_line(error.code().message()) + ": " +
                       fs::path(path).parent_path().string() + ".");
    }
    write_atomically(path, preset_toml(settings, doc));
    refresh_presets();
}

void delete_preset(const std::string& name) {
    const Preset* preset = find_preset(name);
    if (!preset || !preset->yours())
        throw UsageError("'" + one_line(name) + "' is not one of your presets and cannot be deleted.");
    std::error_code error;
    if (!fs::remove(preset->file, error))
        throw RunError("The preset '" + name + "' cannot be deleted: " +
                       (error ? one_line(error.message()) : std::string("its file is not there")) + ".");
    refresh_presets();
}

PresetTaken with_preset(const Preset& preset, const Settings& now) {
    PresetTaken taken{now, says_range(preset, now), preset.name};
    load_preset(preset, taken.settings);
    colour_images(taken.settings, now.view.as<ViewSettings>().mapping.colormap);
    taken.settings.chain.keep_context(now.chain);
    return taken;
}

std::vector<std::string> preset_differences(const std::string& name, const Settings& settings) {
    Settings then = settings;
    load_preset(name, then);
    colour_images(then, settings.view.as<ViewSettings>().mapping.colormap);
    std::vector<std::string> lines;
    const std::vector<ChainStage>& before = settings.chain.stages();
    const std::vector<ChainStage>& after = then.chain.stages();
    const bool same = std::equal(before.begin(), before.end(), after.begin(), after.end(),
                                 [](const ChainStage& a, const ChainStage& b) { return a.type == b.type; });
    if (!same)
        lines.push_back("chain: " + names_of(settings.chain) + " → " + names_of(then.chain));
    for (std::size_t i = 0; same && i < before.size(); ++i) {
        const std::string owner(before[i].type->name);
        if (before[i].bypassed != after[i].bypassed)
            lines.push_back(owner + (after[i].bypassed ? ": computed → bypassed" : ": bypassed → computed"));
        add_changes(owner, before[i].params, after[i].params, lines);
    }
    add_changes("view", settings.view, then.view, lines);
    add_changes("program", settings.program, then.program, lines);
    return lines;
}

} // namespace specklescope
