#include "ui/actions/control_walk.hpp"

#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"

#include <imgui_internal.h>

#include <array>

namespace specklescope {

using parts::kWalked;

void ControlWalk::begin_frame(bool dialog) {
    ImGuiIO& io = ImGui::GetIO();
    if (on()) {
        const ImGuiWindow* window = ImGui::FindWindowByName(kWalked[static_cast<std::size_t>(part_)]);
        if (!window || !window->Active) // not drawn in the previous frame
            leave();
    }
    if (on() && (io.MouseClicked[0] || io.MouseClicked[1]))
        part_ = -1; // the user has returned to the mouse
    if (on() || dialog)
        io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    else
        io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
    probe::value("walk.item", on() ? static_cast<double>(ImGui::GetCurrentContext()->NavId) : 0.0);
    probe::value("walk", on() ? kWalked[static_cast<std::size_t>(part_)] + 2 : "");
}

void ControlWalk::next() {
    for (int part = part_ + 1; part < static_cast<int>(kWalked.size()); ++part) {
        ImGuiWindow* window = ImGui::FindWindowByName(kWalked[static_cast<std::size_t>(part)]);
        if (!window || !window->WasActive)
            continue;
        part_ = part;
        ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
        ImGui::FocusWindow(window);
        ImGui::NavInitWindow(window, true);
        ImGui::GetCurrentContext()->NavDisableHighlight = false;
        ImGui::GetCurrentContext()->NavDisableMouseHover = true;
        return;
    }
    leave();
}

void ControlWalk::leave() {
    part_ = -1;
    ImGui::GetCurrentContext()->NavDisableHighlight = true;
    ImGui::FocusWindow(ImGui::FindWindowByName(parts::kCanvas));
}

bool ControlWalk::takes(const KeyChord& chord) {
    if (!on())
        return false;
    if (chord.key == "Escape" && !ImGui::IsAnyItemActive()) {
        leave();
        return true;
    }
    static constexpr std::array<std::string_view, 7> kKeys = {"Left",  "Right", "Up",    "Down",
                                                              "Space", "Enter", "Escape"};
    return std::find(kKeys.begin(), kKeys.end(), chord.key) != kKeys.end();
}

void show_focus() { ImGui::GetCurrentContext()->NavDisableHighlight = false; }

void focus_ring(bool inside) {
    if (!ImGui::IsItemFocused() || !ImGui::GetIO().NavVisible)
        return;
    const float room = theme::dp(inside ? -1 : 2);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRect({low.x - room, low.y - room}, {high.x + room, high.y + room},
                                        theme::kAccent, theme::dp(4), 0, theme::dp(2));
}

bool entered() {
    return ImGui::IsItemFocused() && ImGui::GetIO().NavVisible &&
           (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false) ||
            ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter), false));
}

int stepped() {
    if (!ImGui::IsItemFocused() || !ImGui::GetIO().NavVisible)
        return 0;
    const int left = ImGui::GetKeyIndex(ImGuiKey_LeftArrow), right = ImGui::GetKeyIndex(ImGuiKey_RightArrow);
    if (ImGui::IsKeyDown(left) || ImGui::IsKeyDown(right))
        ImGui::NavMoveRequestCancel();
    constexpr int kMany = 10;
    const int one = (ImGui::IsKeyPressed(right) ? 1 : 0) - (ImGui::IsKeyPressed(left) ? 1 : 0);
    return ImGui::GetIO().KeyShift ? kMany * one : one;
}

} // namespace specklescope
