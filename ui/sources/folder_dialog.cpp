#include "ui/sources/folder_dialog.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kFolderTitle = "Folder for recordings";

/// Without a slash at its end.
std::string absolute(const std::string& text) {
    std::error_code ignored;
    std::string path = std::filesystem::absolute(home_expanded(text.empty() ? "." : text), ignored)
                           .lexically_normal()
                           .string();
    if (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

} // namespace

void FolderDialog::ask(const std::string& folder) {
    asked_ = true;
    said_.clear();
    program_ = SystemDialog::program();
    show(absolute(folder));
}

void FolderDialog::show(const std::string& path) {
    text_ = wanted_ = path;
    folder_.ask([path = text_] { return read_folder(path, false); });
}

std::optional<std::string> FolderDialog::chosen() {
    std::error_code ignored;
    std::string path = absolute(text_);
    if (std::filesystem::is_directory(path, ignored))
        return path;
    said_ = "There is no folder '" + one_line(text_) + "'; make it, or choose another.";
    return std::nullopt;
}

void FolderDialog::list() {
    hint(wanted_ + (folder_.busy() ? "  …" : ""));
    const auto& folder = folder_.result();
    if (!folder || folder->path != wanted_)
        return;
    if (!folder->error.empty())
        return hint(folder->error, theme::kWarning);
    std::optional<std::string> next;
    const std::filesystem::path here(folder->path);
    constexpr int kFlags = ImGuiSelectableFlags_DontClosePopups;
    if (folder->path != "/" && ImGui::Selectable("↑ ..", false, kFlags))
        next = here.parent_path().string();
    probe::item("folder.up");
    bool any = false;
    for (const FolderEntry& entry : folder->entries) {
        if (!entry.folder)
            continue;
        any = true;
        ImGui::PushID(static_cast<int>(&entry - folder->entries.data()));
        if (ImGui::Selectable((label_text(one_line(entry.name)) + "/").c_str(), false, kFlags))
            next = (here / entry.name).string();
        ImGui::PopID();
        probe::item("folder." + entry.name);
    }
    if (!any)
        hint("No folders in it.");
    if (next)
        show(*next);
}

std::optional<std::string> FolderDialog::draw(bool confirm, bool dismiss) {
    if (std::exchange(asked_, false)) {
        ImGui::OpenPopup(kFolderTitle);
        confirm = dismiss = false; // the key that asked
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(520), screen.x * 0.94F), 0});
    bool open = true;
    std::optional<std::string> answer;
    if (!ImGui::BeginPopupModal(kFolderTitle, &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
        system_.stop();
        return answer;
    }
    folder_.poll();
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    ImGui::InputText("##path", &text_, ImGuiInputTextFlags_AutoSelectAll);
    probe::item("folder.path");
    if (const std::string typed = absolute(text_); typed != wanted_ && !ImGui::IsWindowAppearing()) {
        wanted_ = typed;
        folder_.ask([typed] { return read_folder(typed, false); });
    }
    ImGui::BeginChild("##folders", {0, std::min(dp(260), screen.y * 0.4F)}, true);
    list();
    ImGui::EndChild();
    bool choose = ImGui::Button("Choose", {dp(90), 0}) || confirm;
    probe::item("folder.choose");
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {dp(90), 0}) || dismiss || !open)
        ImGui::CloseCurrentPopup();
    if (!program_.empty()) {
        ImGui::SameLine();
        ImGui::BeginDisabled(system_.running());
        if (ImGui::Button("Browse …", {dp(90), 0})) {
            try {
                system_.start(wanted_, true);
            } catch (const std::exception& error) {
                said_ = sentence_of(error);
            }
        }
        ImGui::EndDisabled();
        tooltip("The desktop's own dialog (" + program_ + ")");
    }
    if (const std::optional<std::string> given = system_.poll(); given && !given->empty()) {
        text_ = *given;
        choose = true;
    }
    if (!said_.empty())
        hint(said_, theme::kWarning);
    probe::value("folder.said", said_);
    if (choose)
        answer = chosen();
    if (choose && answer)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return answer;
}

} // namespace specklescope
