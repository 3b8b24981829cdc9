// Requests for presets: the program's, and those in the folder for requests.
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/presets/preset_file.hpp"
#include "config/toml.hpp"
#include "recording/recorder.hpp"
#include "session/answers.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope::requests {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".toml";

std::string folder_of(const Call& call) {
    return call.session.settings().program.as<ProgramSettings>().control_folder; // empty: requests have none
}

/// Preset in the folder for requests; nullopt: none with this name.
std::optional<Preset> preset_in_folder(const Call& call, const std::string& name) {
    const std::string folder = folder_of(call);
    const fs::path path = fs::path(folder) / (name + kEnding);
    std::error_code ignored;
    if (folder.empty() || !is_preset_name(name) || !fs::is_regular_file(path, ignored))
        return std::nullopt;
    return read_preset(path.string(), PresetOrigin::strange);
}

Out json_of_preset(const Preset& preset) {
    return {{"name", preset.name},
            {"doc", preset.doc},
            {"from", preset.origin == PresetOrigin::yours       ? "yours"
                     : preset.origin == PresetOrigin::installed ? "program"
                                                                : "folder"}};
}

Answer presets(const Call& call) {
    Out all = Out::array();
    const std::string folder = folder_of(call);
    std::vector<std::string> names;
    std::error_code none;
    if (!folder.empty())
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (entry.path().extension() == kEnding)
                names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        try {
            if (const std::optional<Preset> preset = preset_in_folder(call, name))
                all.push_back(json_of_preset(*preset));
        } catch (const RunError& error) { // why it cannot be loaded
            all.push_back(json_of_preset(Preset{name, error.what(), "", "", PresetOrigin::strange}));
        }
    for (const Preset& preset : specklescope::presets())
        if (std::find(names.begin(), names.end(), preset.name) == names.end())
            all.push_back(json_of_preset(preset));
    return answered({{"presets", std::move(all)}});
}

Answer load_preset(const Call& call) {
    const auto name = call.arguments["name"].get<std::string>();
    const std::optional<Preset> own = preset_in_folder(call, name);
    PresetTaken taken = with_preset(own ? *own : known_preset(name), call.session.settings_now());
    check(taken.settings);
    return answered({{"version", call.session.take_preset(taken, false)}});
}

Answer save_preset(const Call& call) {
    const std::string& folder = folder_for_requests(call.session.settings());
    const auto name = call.arguments["name"].get<std::string>();
    check_preset_name(name);
    const std::string path = free_recording_name((fs::path(folder) / (name + kEnding)).string(), {});
    check_writable(path);
    write_atomically(
        path, preset_toml(call.session.settings_now(), call.arguments.value("doc", "Saved by a request.")));
    return answered({{"name", fs::path(path).stem().string()}, {"file", path}});
}

} // namespace

std::vector<Request> preset_rows() {
    using Type = ArgumentType;
    return {
        {"presets", "list presets: of the program, yours, and in the folder", {}, presets},
        {"load_preset",
         "load chain, range and colours of a preset",
         {{"name", Type::text, true, "name, from presets"}},
         load_preset},
        {"save_preset",
         "save chain, range and colours as a preset in the folder of --control-folder",
         {{"name", Type::text, true, "letters, digits, '-' and '_'; a taken name gets a number"},
          {"doc", Type::text, false, "one line about it"}},
         save_preset},
    };
}

} // namespace specklescope::requests
