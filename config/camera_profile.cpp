#include "config/camera_profile.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "files/input_file.hpp"

#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include <cmath>
#include <filesystem>
#include <sstream>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 20;

/// The numbers of a profile: key and member.
constexpr std::pair<const char*, double CameraProfile::*> kNumbers[] = {
    {"gain", &CameraProfile::gain},
    {"read_noise", &CameraProfile::read_noise},
    {"black", &CameraProfile::black},
    {"beta", &CameraProfile::beta},
    {"speckle_size", &CameraProfile::speckle_size}};

CameraProfile read_profile(const std::string& path) {
    const std::string text = whole_text(path, kMostText, "camera profile. Name one", Pipes::refused);
    CameraProfile profile;
    profile.name = fs::path(path).stem().string();
    try {
        const toml::table root = toml::parse(text, path);
        for (const auto& [key, node] : root) {
            const std::string name(key.str());
            const auto number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                             [&](const auto& one) { return name == one.first; });
            if (number != std::end(kNumbers) && node.is_number())
                profile.*number->second = node.value<double>().value_or(CameraProfile::kNone);
            else if (name == "camera" && node.is_string())
                profile.camera = node.value<std::string>().value_or("");
            else if (name == "dark_file" && node.is_string())
                profile.dark_file =
                    (fs::path(path).parent_path() / node.value<std::string>().value_or("")).string();
            else if (name == "flat_file" && node.is_string())
                profile.flat_file =
                    (fs::path(path).parent_path() / node.value<std::string>().value_or("")).string();
            else
                throw UsageError(one_line(path) + ", line " + std::to_string(node.source().begin.line) +
                                 ": '" + one_line(name) +
                                 "' is not a value of a camera profile. Leave it out, or calibrate again.");
        }
    } catch (const toml::parse_error& error) {
        throw UsageError(one_line(path) + ", line " + std::to_string(error.source().begin.line) + ": " +
                         one_line(error.description()) + ".");
    }
    return profile;
}

} // namespace

std::string profile_path(const std::string& name) {
    if (name.ends_with(".toml"))
        return name;
    if (name.empty() || name.find_first_of("/\\") != std::string::npos || name == "auto" || name == "none")
        throw UsageError("'" + one_line(name) +
                         "' is no name for a camera profile. Give a name, or a file that ends in .toml.");
    const std::string folder = user_folder();
    if (folder.empty())
        throw UsageError("There is no home folder for the camera profile '" + one_line(name) +
                         "'. Give a file that ends in .toml.");
    return folder + "/cameras/" + name + ".toml";
}

CameraProfile load_profile(const std::string& name) { return read_profile(profile_path(name)); }

void write_profile(const CameraProfile& profile, const std::string& comments, const std::string& path) {
    std::ostringstream text;
    text << "# Camera profile, measured by specklescope calibrate. DN: digital numbers of the raw frames.\n"
         << comments;
    toml::table table;
    if (!profile.camera.empty())
        table.insert("camera", profile.camera);
    for (const auto& [key, member] : kNumbers)
        if (std::isfinite(profile.*member))
            table.insert(key, profile.*member);
    if (!profile.dark_file.empty())
        table.insert("dark_file", fs::path(profile.dark_file).filename().string());
    if (!profile.flat_file.empty())
        table.insert("flat_file", fs::path(profile.flat_file).filename().string());
    text << table << "\n";
    write_atomically(path, text.str());
}

std::vector<CameraProfile> profiles() {
    std::vector<CameraProfile> all;
    const std::string folder = user_folder();
    std::error_code none; // a missing folder has no profiles
    if (!folder.empty())
        for (const auto& entry : fs::directory_iterator(fs::path(folder) / "cameras", none)) {
            if (entry.path().extension() != ".toml")
                continue;
            try {
                all.push_back(read_profile(entry.path().string()));
            } catch (const Error& error) {
                run_log().warn("A camera profile was not loaded. {}", error.what());
            }
        }
    return all;
}

std::optional<CameraProfile> profile_for(const std::string& wanted, const SourceInfo& source) {
    if (wanted == "none")
        return std::nullopt;
    if (wanted != "auto")
        return load_profile(wanted);
    if (source.live)
        for (CameraProfile& profile : profiles())
            if (!profile.camera.empty() && profile.camera == source.name)
                return std::move(profile);
    return std::nullopt;
}

std::string use_profile(const std::optional<CameraProfile>& given, Chain& chain) {
    const CameraProfile profile = given.value_or(CameraProfile());
    std::string used;
    bool dark = false; // a stage before subtracts the dark signal
    for (ChainStage& stage : chain.stages()) {
        if (stage.bypassed)
            continue;
        for (const auto& [key, member] : kNumbers) {
            if (!stage.params.table().find(key) || stage.params.given(key))
                continue;
            const bool known = std::isfinite(profile.*member) && !(dark && std::string_view(key) == "black");
            stage.params.suggest(key,
                                 known ? ParamValue(profile.*member) : Params(stage.params.table()).get(key));
            if (known)
                used += (used.empty() ? "" : ", ") + std::string(stage.type->name) + ":" + key + "=" +
                        to_string(stage.params.get(key));
        }
        const auto map = [&](const std::string& part, const std::string& file) {
            const ParamDecl* decl = stage.params.table().find(part + "_file");
            if (!decl || stage.params.given(decl->name))
                return;
            stage.params.suggest(decl->name, file);
            if (file.empty() || stage.params.get(part) != ParamValue(std::string("file")))
                return;
            used += (used.empty() ? "" : ", ") + std::string(stage.type->name) + ":" + decl->name;
        };
        map("dark", profile.dark_file);
        map("flat", profile.flat_file);
        dark = dark || stage.params.table().find("dark_file") != nullptr;
    }
    return used;
}

} // namespace specklescope
