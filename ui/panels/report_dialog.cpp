#include "ui/panels/report_dialog.hpp"

#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

namespace specklescope {

using theme::dp;

bool ReportDialog::draw(Session& session, Keys keys) {
    RecordLimits& recording = session.settings().program.as<ProgramSettings>().recording;
    if (std::exchange(ask, false)) {
        subject_ = recording.subject;
        remarks_ = recording.note;
        form_ = parse_form(session.view().report_form);
        ImGui::OpenPopup("Report");
        keys = {}; // the key that opened the dialog
    }
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(520), ImGui::GetIO().DisplaySize.x * 0.92F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal("Report", &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return false;
    bool entered = false, left = false; // left: Enter was pressed in the field drawn last
    const auto field = [&](const std::string& name, std::string& text, const std::string& help) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(name.c_str());
        ImGui::SameLine(dp(130));
        ImGui::SetNextItemWidth(-1);
        if (left)
            ImGui::SetKeyboardFocusHere();
        ImGui::InputText(("##" + name).c_str(), &text, ImGuiInputTextFlags_AutoSelectAll);
        left = keys.enter && ImGui::IsItemDeactivated();
        entered = entered || left;
        if (ImGui::IsItemActive())
            probe::value("report.field", name);
        probe::item("report." + name);
        tooltip(help);
    };
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    field("Subject", subject_, "Subject of the report, also stored in recordings. Not remembered.");
    for (auto& [name, value] : form_)
        field(name, value, "Remembered for the next report. --view report_form names the fields.");
    field("Remarks", remarks_, "Remarks on the report, also stored in recordings as the note.");
    const bool pressed = ImGui::Button("Write report", {dp(140), 0});
    const bool done = pressed || keys.ctrl_enter || left || (keys.enter && !entered);
    probe::item("report.write");
    tooltip("Writes the PDF, the image as PNG and the table as CSV to the folder of recordings.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    hint("Enter: next field. Ctrl-Enter: write. Esc: cancel.");
    if (done) {
        recording.subject = subject_;
        recording.note = remarks_;
        session.view().report_form = form_text(form_);
    }
    if (done || !open || keys.escape)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return done;
}

} // namespace specklescope
