// Why the picture stands still, over its lower edge.
#include "ui/actions/key_words.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using theme::dp;

std::string opens(const KeyBindings& keys, const char* what) {
    return key_words(" Press ", key_of(keys, Action::open), what);
}

/// "Space goes on, ← and → step one frame."
std::string paused_text(const Session& session, const SourceInfo& source) {
    const KeyBindings& keys = session.settings().keys;
    const std::string on = key_words("", key_of(keys, Action::pause), " goes on");
    if (source.live)
        return "The source runs on" + (on.empty() ? "" : "; " + on) + ".";
    const bool region = session.regions.selected().has_value();
    const std::string back = source.seekable ? key_of(keys, Action::step_back, region) : "",
                      step = key_of(keys, Action::step, region);
    const std::string steps = back.empty() || step.empty() ? key_words("", back + step, " steps one frame")
                                                           : back + " and " + step + " step one frame";
    const std::string both = on + (on.empty() || steps.empty() ? "" : ", ") + steps;
    return both.empty() ? both : both + ".";
}

std::string ended_text(const KeyBindings& keys) {
    const std::string again = key_words("", key_of(keys, Action::pause), " plays it again"),
                      other = key_words("", key_of(keys, Action::open), " opens another");
    const std::string both = again + (again.empty() || other.empty() ? "" : ", ") + other;
    return both.empty() ? both : both + ".";
}

} // namespace

Banner banner_of(const Session& session) {
    const KeyBindings& keys = session.settings().keys;
    if (session.opening())
        return {"Opening " +
                    (session.opening_text().empty() ? "the simulated scene" : session.opening_text()) + " …",
                session.opening_work(), theme::kAccent};
    if (!session.pipeline())
        return {"No source",
                "Drop a file on the window" +
                    key_words(", or press ", key_of(keys, Action::open), " to open one") + ".",
                theme::kAccent};
    const PipelineStatus status = session.pipeline()->status();
    if (!session.pipeline()->started())
        return {"Stopped", status.source.name + " is closed." + opens(keys, " to open it again, or another."),
                theme::kError};
    switch (status.state) {
    case RunState::reconnecting:
        return {"Source lost", status.message, theme::kWarning};
    case RunState::failed:
        return {"Stopped", status.message + opens(keys, " to open another source."), theme::kError};
    case RunState::ended:
        return {"End of " + status.source.name, status.message.empty() ? ended_text(keys) : status.message,
                theme::kAccent};
    case RunState::paused:
        return {"Paused", paused_text(session, status.source), theme::kAccent};
    case RunState::idle:
    case RunState::running:
        break;
    }
    return {};
}

float draw_banner(const Rect& canvas, const Session& session, const std::vector<Rect>& taken) {
    Banner banner = banner_of(session);
    probe::value("banner", banner.title);
    if (banner.title.empty())
        return 0;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float wrap = static_cast<float>(canvas.width) * 0.7F;
    ImFont& bold = *theme::fonts().bold;
    banner.text = wrapped(*ImGui::GetFont(), banner.text, wrap);
    const ImVec2 title = bold.CalcTextSizeA(bold.FontSize, FLT_MAX, wrap, banner.title.c_str());
    const ImVec2 text =
        banner.text.empty() ? ImVec2() : ImGui::CalcTextSize(banner.text.c_str(), nullptr, false, wrap);
    const float width = std::max(title.x, text.x) + dp(36);
    const float height = title.y + (banner.text.empty() ? 0 : text.y + dp(4)) + dp(20);
    ImVec2 low(static_cast<float>(canvas.x + (canvas.width - width) / 2),
               static_cast<float>(canvas.y + canvas.height - height) - dp(20));
    std::vector<Rect> below = taken; // from the lowest on
    std::sort(below.begin(), below.end(), [](const Rect& a, const Rect& b) { return a.y > b.y; });
    for (const Rect& other : below)
        if (other.x < low.x + width + dp(8) && low.x - dp(8) < other.x + other.width &&
            other.y < low.y + height && low.y < other.y + other.height)
            low.y = static_cast<float>(other.y) - dp(8) - height;
    low.y = std::max(low.y, static_cast<float>(canvas.y) + dp(4)); // of a low picture its first line is seen
    probe::widget("banner", low.x, low.y, width, height);
    draw.AddRectFilled(low, {low.x + width, low.y + height}, IM_COL32(16, 20, 24, 232), dp(7));
    draw.AddRectFilled(low, {low.x + dp(4), low.y + height}, banner.color, dp(7),
                       ImDrawFlags_RoundCornersLeft);
    draw.AddText(&bold, bold.FontSize, {low.x + dp(18), low.y + dp(10)}, theme::kText, banner.title.c_str(),
                 nullptr, wrap);
    if (!banner.text.empty())
        draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {low.x + dp(18), low.y + dp(14) + title.y},
                     theme::kDim, banner.text.c_str(), nullptr, wrap);
    return static_cast<float>(canvas.y + canvas.height) - low.y;
}

} // namespace specklescope
