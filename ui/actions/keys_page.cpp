// List of keys: every action with its current keys, and the functions of the mouse.
#include "config/keys/bindings.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>
#include <array>

namespace specklescope {

namespace {

using theme::dp;

struct Row {
    std::string group, keys, words, name;
};

std::vector<Row> rows_of(const KeyBindings& bindings) {
    std::vector<Row> rows;
    for (const ActionInfo& action : actions())
        rows.push_back({std::string(action.group), keys_text(bindings, action.action),
                        std::string(action.words), std::string(action.name)});
    static constexpr std::array<std::array<const char*, 2>, 7> kMouse = {
        {{"Wheel", "zoom"},
         {"Drag", "move the image, or a region"},
         {"Double click", "fit"},
         {"Shift", "square, circle, steps of 45°"},
         {"Ctrl drag", "draw a rectangle as a region"},
         {"Ctrl click", "remove a corner of a polygon"},
         {"Right click", "on a control: reset it"}}};
    for (const auto& [keys, words] : kMouse)
        rows.push_back({"Mouse", keys, words, std::string("mouse.") + keys});
    return rows;
}

/// Draws a group in one column, with its heading.
void draw_rows(const std::vector<Row>& rows, std::size_t begin, std::size_t end, float column, float width) {
    hint(rows[begin].group);
    for (std::size_t i = begin; i < end; ++i) {
        const float x = ImGui::GetCursorPosX();
        ImGui::PushFont(theme::fonts().bold);
        ImGui::TextUnformatted(fitted(*ImGui::GetFont(), rows[i].keys, column - dp(6)).c_str());
        ImGui::PopFont();
        ImGui::SameLine();
        ImGui::SetCursorPosX(x + column); // SameLine would add the offset of a second column twice
        const std::string words = fitted(*ImGui::GetFont(), rows[i].words, width - column);
        ImGui::TextColored(theme::vec(theme::kDim), "%s", words.c_str());
        probe::item("keys." + rows[i].name);
        tooltip(rows[i].words + "\nName in [keys]: " + rows[i].name);
    }
}

} // namespace

void draw_keys(bool* open, bool about_asked, const KeyBindings& keys) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    if (*open && !ImGui::IsPopupOpen("Keys"))
        ImGui::OpenPopup("Keys");
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    if (!ImGui::BeginPopupModal("Keys", open, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove))
        return;
    const std::vector<Row> rows = rows_of(keys);
    const float room = screen.x * 0.94F - dp(28);
    const int columns = std::clamp(static_cast<int>(room / dp(400)), 1, 3);
    const float width = std::min(dp(410), room / static_cast<float>(columns));
    ImGui::BeginChild("##rows", {width * static_cast<float>(columns),
                                 std::min(screen.y * 0.8F - dp(40), screen.y - dp(150))});
    const std::size_t share = rows.size() / static_cast<std::size_t>(columns) + 1;
    std::size_t in_column = 0;
    int column = 0;
    ImGui::BeginGroup();
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        while (end < rows.size() && rows[end].group == rows[begin].group)
            ++end;
        if (column + 1 < columns && in_column > 0 &&
            in_column + (end - begin) / 2 > share) { // groups are not split
            ImGui::EndGroup();
            ImGui::SameLine(0, 0);
            ImGui::BeginGroup();
            in_column = 0;
            ++column;
        }
        ImGui::PushID(static_cast<int>(begin));
        draw_rows(rows, begin, end, dp(150), width - dp(14));
        ImGui::PopID();
        ImGui::Dummy({width, dp(2)});
        in_column += end - begin + 1;
    }
    ImGui::EndGroup();
    scroll_by_keys();
    probe::value("keys.scroll", ImGui::GetScrollY());
    probe::value("keys.scroll.max", ImGui::GetScrollMaxY());
    ImGui::EndChild();
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("About Specklescope …") || about_asked)
        ImGui::OpenPopup("About Specklescope");
    probe::item("keys.about");
    tooltip("Version, libraries and licences of this program.");
    ImGui::SameLine();
    hint("[keys] in " + (keys_path().empty() ? std::string("a settings file") : keys_path()) +
         " changes the keys; specklescope help keys lists the actions.");
    draw_about();
    if (!*open)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace specklescope
