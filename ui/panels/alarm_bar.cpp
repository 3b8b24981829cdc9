#include "ui/panels/alarm_bar.hpp"

#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>
#include <ctime>

namespace specklescope {

namespace {

using theme::dp;

constexpr std::size_t kLines = 3;
constexpr ImU32 kSevere = IM_COL32(150, 22, 22, 255), kOnSevere = IM_COL32_WHITE;
constexpr ImU32 kDoubtful = theme::kDarkPalette.warning, kOnDoubtful = IM_COL32(20, 16, 4, 255);

struct Line {
    std::string text;
    bool severe = false;
};

std::vector<Line> lines_of(const std::vector<Alarm>& alarms) {
    std::vector<Line> lines;
    std::size_t more = 0;
    for (const Alarm& alarm : alarms)
        if (!alarm.acknowledged && lines.size() == kLines)
            ++more;
        else if (!alarm.acknowledged)
            lines.push_back({alarm.reason, is_severe(alarm.kind)});
    if (more > 0)
        lines.back().text += " And " + std::to_string(more) + " more under Messages.";
    return lines;
}

void sign(ImDrawList& draw, const ImVec2& at, float side, ImU32 color, ImU32 mark) {
    draw.AddTriangleFilled({at.x, at.y + side}, {at.x + side, at.y + side}, {at.x + side / 2, at.y}, color);
    draw.AddRectFilled({at.x + side * 0.45F, at.y + side * 0.38F}, {at.x + side * 0.55F, at.y + side * 0.68F},
                       mark);
    draw.AddRectFilled({at.x + side * 0.45F, at.y + side * 0.76F}, {at.x + side * 0.55F, at.y + side * 0.88F},
                       mark);
}

void report(const std::vector<Alarm>& alarms) {
    std::string kinds, raised;
    for (const Alarm& alarm : alarms)
        (alarm.acknowledged ? kinds : raised) += std::string(" ") + to_string(alarm.kind);
    probe::value("alarms", raised.empty() ? "" : raised.substr(1));
    probe::value("alarms.acknowledged", kinds.empty() ? "" : kinds.substr(1));
}

std::string time_of(const SteadyClock::time_point& when) {
    const auto ago = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now() - when);
    const std::time_t at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - ago);
    std::tm local{};
    ::localtime_r(&at, &local);
    char text[16];
    std::strftime(text, sizeof text, "%H:%M:%S", &local);
    return text;
}

void message_row(const SteadyClock::time_point& when, const std::string& text, ImU32 color) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y}, {at.x + dp(4), at.y + ImGui::GetTextLineHeight()},
                                              color, dp(2));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + dp(12));
    ImGui::TextColored(theme::vec(theme::kDim), "%s", time_of(when).c_str());
    ImGui::SameLine(dp(90));
    ImGui::TextWrapped("%s", wrapped(*ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x).c_str());
    probe::item("message");
    probe::explained(); // it is a sentence
}

} // namespace

float draw_alarm_bar(const Rect& canvas, Session& session, bool& messages) {
    report(session.alarms());
    const std::vector<Line> lines = lines_of(session.alarms());
    if (lines.empty())
        return 0;
    const KeyBindings& keys = session.settings().keys;
    const std::string done = with_key("OK", keys, Action::acknowledge), list = "Messages";
    const float pad = ImGui::GetStyle().FramePadding.x;
    const float buttons = ImGui::CalcTextSize((done + list).c_str()).x + 4 * pad + dp(26);
    const bool narrow = canvas.width < buttons + dp(320); // the buttons below the text
    const float left = dp(38), wide = static_cast<float>(canvas.width);
    const float room = std::max(dp(60), wide - left - dp(12) - (narrow ? 0 : buttons));
    ImFont& bold = *theme::fonts().bold;
    std::vector<std::string> texts;
    float height = 0;
    for (const Line& line : lines) {
        texts.push_back(wrapped(bold, line.text, room));
        height += bold.CalcTextSizeA(bold.FontSize, FLT_MAX, room, texts.back().c_str()).y + dp(20);
    }
    const float below = narrow ? ImGui::GetFrameHeight() + dp(8) : 0;
    height = std::max(height, narrow ? 0 : ImGui::GetFrameHeight() + dp(12)) + below;
    ImGui::SetNextWindowPos(theme::point(canvas.x, canvas.y));
    ImGui::SetNextWindowSize({wide, height});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, lines.back().severe ? kSevere : kDoubtful);
    ImGui::Begin("##alarms", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto x = static_cast<float>(canvas.x);
    auto y = static_cast<float>(canvas.y);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const float text = bold.CalcTextSizeA(bold.FontSize, FLT_MAX, room, texts[i].c_str()).y;
        const float bottom =
            i + 1 == lines.size() ? static_cast<float>(canvas.y) + height : y + text + dp(20);
        const ImU32 back = lines[i].severe ? kSevere : kDoubtful,
                    front = lines[i].severe ? kOnSevere : kOnDoubtful;
        draw.AddRectFilled({x, y}, {x + wide, bottom}, back);
        sign(draw, {x + dp(12), y + dp(10)}, dp(16), front, back);
        draw.AddText(&bold, bold.FontSize, {x + left, y + dp(10)}, front, texts[i].c_str());
        y = bottom;
    }
    ImGui::SetCursorScreenPos(
        {x + wide - buttons, narrow ? y - below : static_cast<float>(canvas.y) + dp(6)});
    ImGui::PushStyleColor(ImGuiCol_Button, theme::kOverlay);
    if (ImGui::Button(done.c_str()))
        session.acknowledge_alarms();
    probe::item("alarms.acknowledge");
    tooltip("Acknowledge the alarms. The bar returns with a new alarm.");
    ImGui::SameLine(0, dp(6));
    if (ImGui::Button(list.c_str()))
        messages = true;
    probe::item("alarms.messages");
    tooltip(with_key("All messages with their times", keys, Action::messages));
    ImGui::PopStyleColor();
    probe::widget("alarms", canvas.x, canvas.y, wide, height);
    ImGui::End();
    return height;
}

void draw_messages(bool* open, const Session& session) {
    if (*open && !ImGui::IsPopupOpen("Messages"))
        ImGui::OpenPopup("Messages");
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(640), screen.x * 0.92F), std::min(dp(460), screen.y * 0.86F)});
    if (!ImGui::BeginPopupModal("Messages", open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    for (const Alarm& alarm : session.alarms())
        message_row(alarm.since, "Now: " + alarm.reason,
                    is_severe(alarm.kind) ? theme::kError : theme::kWarning);
    if (!session.alarms().empty())
        ImGui::Separator();
    const std::deque<Note>& notes = session.notices().list();
    std::for_each(notes.rbegin(), notes.rend(),
                  [](const Note& note) { message_row(note.when, note.text, level_color(note.level)); });
    if (notes.empty())
        hint("No messages yet.");
    scroll_by_keys();
    probe::value("messages", notes.empty() ? "" : notes.back().text);
    probe::value("messages.count", static_cast<double>(notes.size()));
    if (!*open)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace specklescope
