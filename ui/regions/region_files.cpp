// Field for a region file, and dropped files.
#include "base/error.hpp"
#include "base/system.hpp"
#include "config/keys/bindings.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_tools.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;
using Ask = RegionFileField::Ask;

constexpr const char* kSave = "Save regions";
constexpr const char* kLoad = "Load regions";

bool there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// True if the file was saved.
bool save(Session& session, RegionFileField& file) {
    std::string path = home_expanded(file.path);
    if (path.empty())
        return false;
    if (std::filesystem::path(path).extension().empty())
        path += ".json";
    if (!path.ends_with(".json")) {
        file.error = "Regions are written as .json; ImageJ's .roi and .zip are only read.";
        return false;
    }
    if (path != session.regions_path && path != file.replaces && there(path)) {
        file.replaces = path;
        file.error = "A file of this name exists. Press Replace, or Enter again, to replace it.";
        return false;
    }
    try {
        session.save_regions_file(path);
        return true;
    } catch (const std::exception& error) {
        file.error = sentence_of(error);
        return false;
    }
}

bool load(Session& session, RegionFileField& file) {
    if (file.path.empty())
        return false;
    try {
        session.load_regions_file(home_expanded(file.path));
        return true;
    } catch (const std::exception& error) {
        file.error = sentence_of(error);
        return false;
    }
}

void field(Session& session, RegionFileField& file, bool saves, bool confirm, bool dismiss) {
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(560), ImGui::GetIO().DisplaySize.x * 0.92F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal(saves ? kSave : kLoad, &open,
                                ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-dp(94));
    if (ImGui::InputTextWithHint("##path", saves ? "regions.json" : "regions.json, cells.roi, RoiSet.zip",
                                 &file.path, ImGuiInputTextFlags_AutoSelectAll)) {
        file.error.clear();
        file.replaces.clear();
    }
    probe::item("regions.path");
    tooltip(saves ? "File to write the regions to."
                  : "File to read regions from: .json of this program, or ImageJ's .roi and .zip.");
    ImGui::SameLine();
    const bool pressed = ImGui::Button(!saves ? "Load" : file.replaces.empty() ? "Save" : "Replace", {-1, 0});
    probe::item("regions.path.ok");
    tooltip(saves ? "Write the file. Enter does the same." : "Read the file. Enter does the same.");
    const bool done = (pressed || confirm) && (saves ? save(session, file) : load(session, file));
    ImGui::Dummy({0, dp(2)});
    hint(!file.error.empty() ? file.error
         : saves
             ? "Outlines with names and colours, in pixels of the result; --regions FILE measures over them."
             : "They replace the present regions; undo" +
                   with_key("", session.settings().keys, Action::undo) + " restores these.",
         file.error.empty() ? theme::kDim : theme::kWarning);
    probe::value("regions.path.error", file.error);
    if (done || !open || dismiss)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace

void draw_region_files(Session& session, RegionFileField& file, bool confirm, bool dismiss) {
    const Ask ask = std::exchange(file.ask, Ask::nothing);
    if (ask != Ask::nothing) {
        file.path = !session.regions_path.empty() ? session.regions_path
                    : ask == Ask::save            ? "regions.json"
                                                  : "";
        if (ask == Ask::save && !file.path.ends_with(".json"))
            file.path = std::filesystem::path(file.path).replace_extension(".json").string();
        if (const std::string folder = std::exchange(file.folder, ""); !folder.empty())
            file.path =
                (std::filesystem::path(folder) / std::filesystem::path(file.path).filename()).string();
        file.error.clear();
        file.replaces.clear();
        ImGui::OpenPopup(ask == Ask::save ? kSave : kLoad);
        confirm = dismiss = false; // the key that opened the field
    }
    field(session, file, true, confirm, dismiss);
    field(session, file, false, confirm, dismiss);
}

bool take_region_file(const std::string& path, Session& session) {
    if (!path.ends_with(".json") && !path.ends_with(".roi") && !path.ends_with(".zip"))
        return false;
    try {
        session.load_regions_file(path);
    } catch (const std::exception& error) {
        session.say(Message::Level::error, sentence_of(error));
    }
    return true;
}

} // namespace specklescope
