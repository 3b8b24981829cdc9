// Requests about presets: those that the program knows, and those in the folder where requests may write.
#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/control/answers.hpp"
#include "config/presets/preset_file.hpp"
#include "recording/recorder.hpp"

#include <algorithm>
#include <filesystem>

namespace specklescope::control {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".toml";

std::string folder_of(ControlHost& host) {
    return host.settings().program.as<ProgramSettings>().control_folder; // empty: requests have none
}

/// In the folder of requests; nothing: there is none of this name.
std::optional<Preset> preset_in_folder(ControlHost& host, const std::string& name) {
    const std::string folder = folder_of(host);
    const fs::path path = fs::path(folder) / (name + kEnding);
    std::error_code ignored;
    if (folder.empty() || !is_preset_name(name) || !fs::is_regular_file(path, ignored))
        return std::nullopt;
    return read_preset(path.string(), PresetOrigin::strange);
}

Settings settings_now(ControlHost& host) {
    Settings now = host.settings();
    now.chain = host.chain();
    return now;
}

Out json_of_preset(const Preset& preset) {
    return {{"name", preset.name},
            {"doc", preset.doc},
            {"from", preset.origin == PresetOrigin::yours       ? "yours"
                     : preset.origin == PresetOrigin::installed ? "program"
                                                                : "folder"}};
}

} // namespace

Answer presets(ControlHost& host, const Json&, ControlProgress&) {
    Out all = Out::array();
    const std::string folder = folder_of(host);
    std::vector<std::string> names;
    std::error_code none;
    if (!folder.empty())
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (entry.path().extension() == kEnding)
                names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        try {
            if (const std::optional<Preset> preset = preset_in_folder(host, name))
                all.push_back(json_of_preset(*preset));
        } catch (const RunError& error) { // why it cannot be loaded
            all.push_back(json_of_preset(Preset{name, error.what(), "", "", PresetOrigin::strange}));
        }
    for (const Preset& preset : specklescope::presets())
        if (std::find(names.begin(), names.end(), preset.name) == names.end())
            all.push_back(json_of_preset(preset));
    return told({{"presets", std::move(all)}});
}

Answer load_preset(ControlHost& host, const Json& a, ControlProgress&) {
    const auto name = a["name"].get<std::string>();
    const std::optional<Preset> own = preset_in_folder(host, name);
    PresetTaken taken = with_preset(own ? *own : known_preset(name), settings_now(host));
    check(taken.settings);
    (void)settled(taken.settings.chain);
    return told({{"version", host.take_preset(taken)}});
}

Answer save_preset(ControlHost& host, const Json& a, ControlProgress&) {
    const std::string& folder = folder_for_requests(host.settings());
    const auto name = a["name"].get<std::string>();
    check_preset_name(name);
    const std::string path = free_recording_name((fs::path(folder) / (name + kEnding)).string(), {});
    check_writable(path);
    write_atomically(path, preset_toml(settings_now(host), a.value("doc", "Saved by a request.")));
    return told({{"name", fs::path(path).stem().string()}, {"file", path}});
}

} // namespace specklescope::control
