#include "ui/actions/menu_bar.hpp"

#include "config/keys/actions.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/icon_button.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <set>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr std::string_view kAll; ///< the menu that holds the others

std::string popup_name(std::string_view menu) { return "##menu " + std::string(menu); }

/// Arrows and Enter work at once, and show where they are.
void walk_by_keys() {
    ImGui::GetCurrentContext()->NavDisableHighlight = false;
    ImGui::GetCurrentContext()->NavDisableMouseHover = true;
}

/// −1 or 1: Left or Right was pressed where neither leads to another entry.
int sideways() {
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    if (g.NavWindow != ImGui::GetCurrentWindow() || !ImGui::NavMoveRequestButNoResultYet())
        return 0;
    return g.NavMoveDir == ImGuiDir_Left ? -1 : g.NavMoveDir == ImGuiDir_Right ? 1 : 0;
}

} // namespace

void MenuBar::entry(const PaletteEntry& entry) {
    const bool possible = entry.why_not.empty();
    const float keys = ImGui::CalcTextSize(entry.keys.c_str()).x;
    const std::string text = fitted_name(*ImGui::GetFont(), entry.text, dp(420));
    const float width = ImGui::CalcTextSize(text.c_str()).x + (keys > 0 ? keys + dp(28) : 0);
    ImGui::PushID(entry.name.c_str());
    ImGui::PushID(entry.text.c_str());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool pressed = ImGui::Selectable("##entry", false,
                                           static_cast<int>(ImGuiSelectableFlags_DontClosePopups) |
                                               static_cast<int>(ImGuiSelectableFlags_SpanAvailWidth),
                                           {width, ImGui::GetTextLineHeight()}) ||
                         entered();
    probe::item("menu." + entry.name);
    const float right = ImGui::GetItemRectMax().x - ImGui::GetStyle().ItemSpacing.x / 2;
    const ImU32 dim = possible ? theme::kDim : theme::fade(theme::kDim, 0.7F);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(at, possible ? theme::kText : dim, text.c_str());
    draw.AddText({right - keys, at.y}, dim, entry.keys.c_str());
    if (!possible && ImGui::IsItemHovered()) {
        ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x + dp(12), at.y});
        tooltip(entry.why_not);
    }
    if (pressed && possible)
        chosen_ = entry.run;
    ImGui::PopID();
    ImGui::PopID();
}

void MenuBar::submenu(const std::string& path, const Entries& entries) {
    const std::string label = path.substr(path.rfind('/') + 1);
    const bool open = ImGui::BeginMenu(label.c_str());
    if (!open) {
        probe::item("menu." + path);
        if (entered()) // Dear ImGui opens it by Right and Space
            ImGui::OpenPopup(label.c_str());
        return;
    }
    fill(path, entries);
    ImGui::EndMenu();
}

/// The entries of a menu and of its submenus, each where its first entry is.
void MenuBar::fill(std::string_view menu, const Entries& entries) {
    std::set<std::string> submenus;
    for (const PaletteEntry& one : entries) {
        if (one.menu == menu) {
            entry(one);
        } else if (one.menu.starts_with(std::string(menu) + "/")) {
            const std::string path = one.menu.substr(0, one.menu.find('/', menu.size() + 1));
            if (submenus.insert(path).second)
                submenu(path, entries);
        }
    }
}

bool MenuBar::popup(std::string_view menu, const std::function<Entries()>& entries) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {dp(8), dp(8)});
    const bool shown = ImGui::BeginPopup(popup_name(menu).c_str(), ImGuiWindowFlags_NoMove);
    ImGui::PopStyleVar();
    if (!shown)
        return false;
    const Entries all = entries();
    if (menu == kAll)
        for (const std::string_view each : menus())
            submenu(std::string(each), all);
    else
        fill(menu, all);
    if (chosen_ || closes_)
        ImGui::ClosePopupToLevel(0, true);
    const int way = sideways();
    ImGui::EndPopup();
    const auto count = static_cast<int>(bar_.size());
    const auto at = static_cast<int>(std::find(bar_.begin(), bar_.end(), menu) - bar_.begin());
    if (way != 0 && count > 1) {
        wanted_ = (at + way + count) % count;
        moved_ = true;
    }
    return true;
}

/// Opens its menu when it is pressed, and when the mouse comes over it while another is open.
void MenuBar::button(std::string_view menu, std::size_t index) {
    const std::string name = popup_name(menu);
    const bool open = ImGui::IsPopupOpen(name.c_str());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    bool pressed = false;
    if (menu == kAll) {
        pressed = icon_button("menu.all", Icon::menu, "All menus", open);
    } else {
        const std::string label = std::string(menu) + "##button";
        ImGui::PushStyleColor(ImGuiCol_Button, open ? theme::vec(theme::kFieldHover) : ImVec4());
        pressed = ImGui::Button(label.c_str());
        ImGui::PopStyleColor();
        focus_ring();
        probe::item("menu." + std::string(menu));
    }
    const bool over = open_ && !open && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup) &&
                      (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0);
    if (pressed || over)
        wanted_ = static_cast<int>(index);
    if (wanted_ == static_cast<int>(index)) {
        wanted_ = -1;
        ImGui::OpenPopup(name.c_str());
        if (std::exchange(moved_, false))
            walk_by_keys();
    }
    if (ImGui::IsPopupOpen(name.c_str()))
        ImGui::SetNextWindowPos({at.x, at.y + ImGui::GetFrameHeight() + dp(4)});
}

void MenuBar::draw(bool one, const std::function<std::vector<PaletteEntry>()>& entries) {
    bar_ = one ? std::vector<std::string_view>{kAll} : menus();
    if (std::exchange(asked_, false)) {
        wanted_ = 0;
        moved_ = true;
    }
    bool shown = false;
    std::string_view which;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {dp(7), ImGui::GetStyle().FramePadding.y});
    for (std::size_t i = 0; i < bar_.size(); ++i) {
        if (i > 0)
            ImGui::SameLine(0, 0);
        button(bar_[i], i);
        if (popup(bar_[i], entries)) {
            shown = true;
            which = bar_[i];
        }
    }
    ImGui::PopStyleVar();
    open_ = shown;
    closes_ = false;
    probe::value("menu", shown ? (which == kAll ? "all" : std::string(which)) : "");
    if (const auto run = std::exchange(chosen_, nullptr))
        run();
}

} // namespace specklescope
