// Dialogs: about the program, and errors when a source is opened.
#include "config/version.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>

namespace specklescope {

using theme::dp;

namespace {

void said(const std::string& text) {
    ImGui::TextWrapped("%s", wrapped(*ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x).c_str());
}

} // namespace

void draw_about() {
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(560), ImGui::GetIO().DisplaySize.x * 0.92F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal("About Specklescope", &open,
                                ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    for (const auto& [name, value] : version_rows()) {
        ImGui::TextColored(theme::vec(theme::kDim), "%s", name.c_str());
        ImGui::SameLine(dp(120));
        said(value);
    }
    probe::value("about", version_text());
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("Copy"))
        ImGui::SetClipboardText(version_text().c_str());
    if (!open)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

bool draw_leave(const Session& session, ViewState& state) {
    constexpr const char* kTitle = "Recording";
    if (state.leave_asked && !ImGui::IsPopupOpen(kTitle))
        ImGui::OpenPopup(kTitle);
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(460), ImGui::GetIO().DisplaySize.x * 0.92F), 0});
    if (!ImGui::BeginPopupModal(kTitle, nullptr, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return false;
    const std::vector<Recording> running = session.recordings.running();
    for (const Recording& recording : running) {
        const SinkStatus status = recording.sink->status();
        said((status.path.empty() ? recording.path : status.path) + " is being recorded.");
    }
    ImGui::Dummy({0, dp(4)});
    bool leave = ImGui::Button("Finish the recording and quit") || state.confirm || running.empty();
    probe::item("leave.finish");
    ImGui::SameLine();
    const bool stay = ImGui::Button("Keep recording") || state.dismiss;
    probe::item("leave.stay");
    leave = leave && !stay;
    if (leave || stay) {
        state.leave_asked = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
    return leave;
}

void draw_open_error(Session& session, const ViewState& state) {
    if (session.open_error() && !ImGui::IsPopupOpen("Cannot open this source"))
        ImGui::OpenPopup("Cannot open this source");
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(520), ImGui::GetIO().DisplaySize.x * 0.9F), 0});
    if (!ImGui::BeginPopupModal("Cannot open this source", nullptr,
                                ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    said(session.open_error().value_or(""));
    ImGui::Dummy({0, dp(4)});
    ImGui::PushStyleColor(ImGuiCol_Text, theme::vec(theme::kDim));
    said("The previous source stays open. Sources are files, folders, synthetic, v4l2:/dev/video0, aravis, "
         "rtsp://… or gst:…; 'specklescope list sources' explains each.");
    ImGui::PopStyleColor();
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("Close", {dp(96), 0}) || state.confirm || state.dismiss || !session.open_error()) {
        session.open_error().reset();
        ImGui::CloseCurrentPopup();
    }
    probe::item("error.close");
    tooltip("Close this message. Enter and Escape do the same.");
    ImGui::EndPopup();
}

} // namespace specklescope
