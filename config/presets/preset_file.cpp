#include "config/presets/preset_file.hpp"

#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/text.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace specklescope {

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

/// What it says of the range, no matter what is set now.
bool says_range(const Preset& preset, const Settings& now) {
    const auto loaded_over = [&](double most) {
        Settings other = now;
        auto& mapping = other.view.as<ViewSettings>().mapping;
        mapping.low = -most; // below whatever it says of the other end
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
                         "' is no name for a preset; allowed: letters, digits, '-' and '_', 64 at most.");
}

std::string preset_path(const std::string& name) {
    check_preset_name(name);
    const std::string folder = user_folder();
    if (folder.empty())
        throw UsageError("There is no folder for presets: neither XDG_CONFIG_HOME nor HOME is set.");
    return folder + "/presets/" + name + ".toml";
}

void save_preset(const std::string& name, const std::string& doc, const Settings& settings, bool replace) {
    const std::string path = preset_path(name);
    std::error_code ignored;
    if (!replace && fs::exists(path, ignored))
        throw UsageError("There is a preset '" + name + "' of yours; replace it, or take another name.");
    try {
        fs::create_directories(fs::path(path).parent_path());
    } catch (const fs::filesystem_error& error) {
        throw RunError("The folder of presets cannot be made: " + one_line(error.code().message()) + ": " +
                       fs::path(path).parent_path().string() + ".");
    }
    write_atomically(path, preset_toml(settings, doc));
    refresh_presets();
}

void delete_preset(const std::string& name) {
    const Preset* preset = find_preset(name);
    if (!preset || !preset->yours())
        throw UsageError("'" + one_line(name) + "' is no preset of yours, and stays.");
    std::error_code error;
    if (!fs::remove(preset->file, error))
        throw RunError("The preset '" + name + "' cannot be deleted: " +
                       (error ? one_line(error.message()) : std::string("its file is not there")) + ".");
    refresh_presets();
}

PresetTaken with_preset(const Preset& preset, const Settings& now) {
    PresetTaken taken{now, says_range(preset, now)};
    load_preset(preset, taken.settings);
    taken.settings.chain.set_channel(now.chain.channel());
    taken.settings.chain.set_input(now.chain.input());
    return taken;
}

std::vector<std::string> preset_differences(const std::string& name, const Settings& settings) {
    Settings then = settings;
    load_preset(name, then);
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
