// The list of keys, what the program is, and why a source could not be opened.
#include "config/version.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace specklescope {

using theme::dp;

namespace {

using KeyRow = std::array<const char*, 2>;

constexpr std::array<KeyRow, 26> kKeys = {{
    {"Space", "pause, go on, play again"},
    {"←  ,   →  .", "one frame back, on (file)"},
    {"Shift ←  →", "ten frames back, on"},
    {"Ctrl Home  End", "first frame, last frame"},
    {"J", "loop on, off"},
    {"I  U", "the loop begins, ends here"},
    {"Ctrl ↓  ↑", "slower, faster"},
    {"1  2  3", "processed, raw, both"},
    {"Tab", "next of these"},
    {"Wheel  +  −", "zoom"},
    {"Drag", "move the picture"},
    {"Double click  F", "fit"},
    {"0", "1:1, pixel on pixel"},
    {"M", "next colour map"},
    {"A", "automatic range"},
    {"[  ]", "darker, brighter by half a stop"},
    {"<  >", "smaller, larger radius of the window"},
    {"X", "mark saturated raw pixels"},
    {"R", "record processed"},
    {"W", "record raw"},
    {"S", "snapshot"},
    {"O", "open a source"},
    {"F1", "statistics"},
    {"P", "side panel"},
    {"F11", "full screen"},
    {"Ctrl Q", "quit"},
}};
static_assert(kKeys.back()[0], "as many as there are");
constexpr std::array<KeyRow, 7> kTraceKeys = {{
    {"T", "show, hide"},
    {"Z", "take the baseline F₀"},
    {"%", "ΔF/F₀, absolute units"},
    {"E", "mark an event"},
    {"Ctrl 1 … 9", "with a label given before"},
    {"End", "follow the newest"},
    {"Home", "the whole run"},
}};

void key_rows(std::span<const KeyRow> rows, float column) {
    ImGui::BeginGroup();
    for (const auto& [key, what] : rows) {
        const float x = ImGui::GetCursorPosX();
        ImGui::PushFont(theme::fonts().bold);
        ImGui::TextUnformatted(key);
        ImGui::PopFont();
        ImGui::SameLine();
        ImGui::SetCursorPosX(x + column); // SameLine would count a second column's place twice
        ImGui::TextColored(theme::vec(theme::kDim), "%s", what);
        probe::item(std::string("keys.") + key);
    }
    ImGui::EndGroup();
}

/// The rows of --version.
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
        ImGui::TextWrapped("%s", value.c_str());
    }
    probe::value("about", version_text());
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("Copy"))
        ImGui::SetClipboardText(version_text().c_str());
    if (!open)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace

void draw_keys(bool* open) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const bool beside = screen.x >= dp(860); // two columns, or one that scrolls
    if (*open && !ImGui::IsPopupOpen("Keys"))
        ImGui::OpenPopup("Keys");
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    if (!ImGui::BeginPopupModal("Keys", open, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove))
        return;
    const float width = beside ? dp(800) : std::min(dp(430), screen.x * 0.86F);
    const float rows = ImGui::GetTextLineHeightWithSpacing();
    const std::size_t right = region_keys().size() + kTraceKeys.size() + 2; // with their headings
    const auto lines =
        static_cast<float>(beside ? std::max(kKeys.size() + 1, right) : kKeys.size() + 1 + right);
    ImGui::BeginChild("##rows", {width, std::min(lines * rows + dp(4), screen.y * 0.78F)});
    ImGui::BeginGroup();
    hint("Picture");
    key_rows(kKeys, dp(130));
    ImGui::EndGroup();
    if (beside)
        ImGui::SameLine(dp(372));
    ImGui::BeginGroup();
    hint("Regions");
    key_rows(region_keys(), dp(160));
    hint("Traces of regions");
    key_rows(kTraceKeys, dp(160));
    ImGui::EndGroup();
    ImGui::EndChild();
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("About Specklescope …"))
        ImGui::OpenPopup("About Specklescope");
    probe::item("keys.about");
    draw_about();
    if (!*open)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

void draw_open_error(Session& session, const ViewState& state) {
    if (session.open_error() && !ImGui::IsPopupOpen("Cannot open this source"))
        ImGui::OpenPopup("Cannot open this source");
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(520), ImGui::GetIO().DisplaySize.x * 0.9F), 0});
    if (!ImGui::BeginPopupModal("Cannot open this source", nullptr,
                                ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    ImGui::TextWrapped("%s", session.open_error().value_or("").c_str());
    ImGui::Dummy({0, dp(4)});
    ImGui::PushStyleColor(ImGuiCol_Text, theme::vec(theme::kDim));
    ImGui::TextWrapped(
        "%s", "What was shown before stays. Sources are files, folders, synthetic, v4l2:/dev/video0, aravis, "
              "rtsp://… or gst:…; 'specklescope list sources' explains each.");
    ImGui::PopStyleColor();
    ImGui::Dummy({0, dp(4)});
    if (ImGui::Button("Close", {dp(96), 0}) || state.confirm || state.dismiss || !session.open_error()) {
        session.open_error().reset();
        ImGui::CloseCurrentPopup();
    }
    probe::item("error.close");
    ImGui::EndPopup();
}

} // namespace specklescope
