#include "ui/panels/icon_button.hpp"

#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

namespace specklescope {

using theme::dp;

namespace {

/// Draws a bar and a triangle that points away from it: right for 1, left for -1.
void draw_step(ImDrawList& draw, const ImVec2& c, float r, float way, ImU32 color) {
    const auto x = [&](float right) { return c.x + way * right; };
    const ImVec2 low(x(-r), c.y - r), tip(x(dp(2)), c.y), high(x(-r), c.y + r);
    if (way > 0)
        draw.AddTriangleFilled(low, tip, high, color);
    else // keep the winding order: edges are smoothed on one side only
        draw.AddTriangleFilled(high, tip, low, color);
    draw.AddRectFilled({std::min(x(dp(3)), x(r)), c.y - r}, {std::max(x(dp(3)), x(r)), c.y + r}, color);
}

/// Draws two arrows in a circle.
void draw_loop(ImDrawList& draw, const ImVec2& c, float r, ImU32 color) {
    const float w = r * 1.25F;
    for (const float way : {1.0F, -1.0F}) {
        const float y = c.y - way * r * 0.75F;
        draw.AddLine({c.x - way * w, y}, {c.x + way * (w - dp(2)), y}, color, dp(1.5F));
        draw.AddLine({c.x - way * w, y}, {c.x - way * w, y + way * r * 0.8F}, color, dp(1.5F));
        const ImVec2 back(c.x + way * (w - dp(3)), y - way * dp(3.5F));
        const ImVec2 tip(c.x + way * (w + dp(1.5F)), y);
        const ImVec2 front(c.x + way * (w - dp(3)), y + way * dp(3.5F));
        draw.AddTriangleFilled(back, tip, front, color);
    }
}

/// Draws a bracket that opens right for 1, left for -1, with a dot inside the loop.
void draw_bracket(ImDrawList& draw, const ImVec2& c, float r, float way, ImU32 color) {
    const float x = c.x - way * r * 0.8F, arm = way * dp(5);
    for (const float y : {c.y - r * 1.1F, c.y + r * 1.1F})
        draw.AddLine({x, y}, {x + arm, y}, color, dp(1.5F));
    draw.AddLine({x, c.y - r * 1.1F - dp(0.75F)}, {x, c.y + r * 1.1F + dp(0.75F)}, color, dp(1.5F));
    draw.AddCircleFilled({c.x + way * r * 0.5F, c.y}, dp(1.75F), color);
}

void draw_icon(ImDrawList& draw, Icon icon, const ImVec2& c, ImU32 color, bool on) {
    const float r = dp(5);
    switch (icon) {
    case Icon::pause:
        draw.AddRectFilled({c.x - r, c.y - r}, {c.x - dp(1.5F), c.y + r}, color);
        draw.AddRectFilled({c.x + dp(1.5F), c.y - r}, {c.x + r, c.y + r}, color);
        break;
    case Icon::play:
        draw.AddTriangleFilled({c.x - r * 0.8F, c.y - r}, {c.x + r, c.y}, {c.x - r * 0.8F, c.y + r}, color);
        break;
    case Icon::step:
        draw_step(draw, c, r, 1, color);
        break;
    case Icon::step_back:
        draw_step(draw, c, r, -1, color);
        break;
    case Icon::loop:
        draw_loop(draw, c, r, color);
        break;
    case Icon::mark_in:
        draw_bracket(draw, c, r, 1, color);
        break;
    case Icon::mark_out:
        draw_bracket(draw, c, r, -1, color);
        break;
    case Icon::record:
        draw.AddCircleFilled(c, r, theme::kRecord);
        if (on)
            draw.AddCircle(c, r + dp(3), theme::kRecord, 0, dp(1.5F));
        break;
    case Icon::camera:
        draw.AddRectFilled({c.x - r - dp(2), c.y - r + dp(1)}, {c.x + r + dp(2), c.y + r}, color, dp(2));
        draw.AddRectFilled({c.x - dp(3), c.y - r - dp(1)}, {c.x + dp(3), c.y - r + dp(2)}, color, dp(1));
        draw.AddCircleFilled({c.x, c.y + dp(0.5F)}, dp(3), theme::kField);
        break;
    case Icon::traces:
        for (const float part : {-0.9F, 0.0F, 0.9F}) {
            draw.PathLineTo({c.x + (part - 0.45F) * r, c.y + r * 0.7F});
            draw.PathLineTo({c.x + part * r, c.y - r * 0.8F});
        }
        draw.PathLineTo({c.x + 1.35F * r, c.y + r * 0.7F});
        draw.PathStroke(color, 0, dp(1.5F));
        break;
    case Icon::menu:
        for (const float part : {-1.0F, 0.0F, 1.0F})
            draw.AddLine({c.x - r * 1.2F, c.y + part * r}, {c.x + r * 1.2F, c.y + part * r}, color, dp(1.5F));
        break;
    }
}

} // namespace

float icon_button_width() { return ImGui::GetFrameHeight() * 1.15F; }

bool icon_button(const char* id, Icon icon, const std::string& text, bool on) {
    const bool clicked = ImGui::InvisibleButton(id, {icon_button_width(), ImGui::GetFrameHeight()});
    probe::item(id);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, high, ImGui::IsItemHovered() ? theme::kFieldHover : theme::kField,
                       ImGui::GetStyle().FrameRounding);
    draw_icon(draw, icon, {(low.x + high.x) / 2, (low.y + high.y) / 2}, on ? theme::kAccent : theme::kText,
              on);
    focus_ring();
    tooltip(text);
    return clicked;
}

} // namespace specklescope
