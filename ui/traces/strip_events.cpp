// Events on the strip: their labels, which are clicked, and the field for another name.
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "session/session.hpp"
#include "ui/traces/strip.hpp"

#include <imgui_stdlib.h>

#include <array>
#include <utility>

namespace specklescope {

using theme::dp;

void TraceStrip::mark_remembered(Session& session, std::size_t n) {
    if (n < session.events().remembered().size())
        session.mark_event(std::string(session.events().remembered()[n]));
}

void TraceStrip::ask_label(const EventMark& event) {
    edited_event_ = event.number;
    edited_label_ = event.label;
    open_event_ = true;
}

void TraceStrip::draw_events(const PlotArea& plot, Session& session) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    std::array<double, 4> free = {-1e9, -1e9, -1e9, -1e9}; // where the labels of each row end
    for (const TimedEvent& event : session.events().events()) {
        const double x = plot.x(event.time_ns);
        int row = 0;
        while (row + 1 < static_cast<int>(free.size()) && free[static_cast<std::size_t>(row)] > x - dp(2))
            ++row;
        const Rect at = draw_event(plot, event, row);
        if (at.width == 0)
            continue;
        free[static_cast<std::size_t>(row)] = at.x + at.width;
        probe::widget("traces.event." + std::to_string(event.mark.number), at.x, at.y, at.width, at.height);
        if (!ImGui::IsItemHovered() || !at.contains(mouse.x, mouse.y))
            continue;
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        if (ImGui::IsMouseReleased(0) && ImGui::GetMouseDragDelta(0, 3.0F).x == 0)
            ask_label(event.mark);
    }
}

void TraceStrip::event_popup(Session& session) {
    if (std::exchange(open_event_, false)) {
        focus_event_ = true;
        ImGui::OpenPopup("event");
    }
    if (!ImGui::BeginPopup("event")) {
        if (std::exchange(names_event_, false)) // a click elsewhere leaves it, and what was typed counts
            session.rename_event(edited_event_, edited_label_);
        return;
    }
    names_event_ = !close_on_escape();
    if (std::exchange(focus_event_, false))
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(dp(190));
    const bool entered = ImGui::InputText(
        "##label", &edited_label_, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    probe::item("traces.event.label");
    ImGui::SameLine();
    if (entered || ImGui::Button("Name")) {
        session.rename_event(edited_event_, edited_label_);
        names_event_ = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::SameLine();
    if (ImGui::Button("Remove")) {
        session.remove_event(edited_event_);
        names_event_ = false;
        ImGui::CloseCurrentPopup();
    }
    probe::item("traces.event.remove");
    ImGui::EndPopup();
}

} // namespace specklescope
