// The row of tools beside the picture.
#include "config/keys/bindings.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

void draw_sign(ImDrawList& draw, RegionTool tool, const ImVec2& c, float side, ImU32 colour) {
    const float r = std::min(dp(7), side * 0.35F), thick = dp(1.6F);
    switch (tool) {
    case RegionTool::select: {
        const std::array<ImVec2, 7> arrow = {{{c.x - r * 0.5F, c.y - r},
                                              {c.x - r * 0.5F, c.y + r * 0.65F},
                                              {c.x - r * 0.1F, c.y + r * 0.3F},
                                              {c.x + r * 0.2F, c.y + r},
                                              {c.x + r * 0.45F, c.y + r * 0.88F},
                                              {c.x + r * 0.18F, c.y + r * 0.2F},
                                              {c.x + r * 0.7F, c.y + r * 0.15F}}};
        draw.AddPolyline(arrow.data(), static_cast<int>(arrow.size()), colour, ImDrawFlags_Closed, dp(1.4F));
        break;
    }
    case RegionTool::rectangle:
        draw.AddRect({c.x - r, c.y - r * 0.75F}, {c.x + r, c.y + r * 0.75F}, colour, 0, 0, thick);
        break;
    case RegionTool::ellipse: {
        std::array<ImVec2, 32> points;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const float angle = 6.2831853F * static_cast<float>(i) / static_cast<float>(points.size());
            points[i] = {c.x + r * std::cos(angle), c.y + r * 0.78F * std::sin(angle)};
        }
        draw.AddPolyline(points.data(), static_cast<int>(points.size()), colour, ImDrawFlags_Closed, thick);
        break;
    }
    case RegionTool::polygon: {
        const std::array<ImVec2, 5> points = {{{c.x - r, c.y - r * 0.3F},
                                               {c.x - r * 0.1F, c.y - r},
                                               {c.x + r, c.y - r * 0.35F},
                                               {c.x + r * 0.55F, c.y + r * 0.9F},
                                               {c.x - r * 0.65F, c.y + r * 0.75F}}};
        draw.AddPolyline(points.data(), static_cast<int>(points.size()), colour, ImDrawFlags_Closed, thick);
        for (const ImVec2& point : points)
            draw.AddCircleFilled(point, dp(2), colour);
        break;
    }
    case RegionTool::freehand:
        draw.PathLineTo({c.x - r, c.y + r * 0.35F});
        draw.PathBezierCubicCurveTo({c.x - r, c.y - r * 1.5F}, {c.x - r * 0.1F, c.y - r * 0.9F},
                                    {c.x + r * 0.1F, c.y - r * 0.15F});
        draw.PathBezierCubicCurveTo({c.x + r * 0.3F, c.y + r * 0.4F}, {c.x + r * 0.9F, c.y - r},
                                    {c.x + r, c.y - r * 0.1F});
        draw.PathBezierCubicCurveTo({c.x + r * 1.1F, c.y + r}, {c.x - r * 0.8F, c.y + r * 1.3F},
                                    {c.x - r, c.y + r * 0.35F});
        draw.PathStroke(colour, ImDrawFlags_None, thick);
        break;
    case RegionTool::line:
        draw.AddLine({c.x - r * 0.8F, c.y + r * 0.8F}, {c.x + r * 0.8F, c.y - r * 0.8F}, colour, thick);
        draw.AddCircleFilled({c.x - r * 0.8F, c.y + r * 0.8F}, dp(2.2F), colour);
        draw.AddCircleFilled({c.x + r * 0.8F, c.y - r * 0.8F}, dp(2.2F), colour);
        break;
    }
}

} // namespace

float region_bar_width() { return dp(32); }

void draw_region_bar(const Rect& area, RegionTools& tools, const KeyBindings& keys) {
    const float gap = dp(2), room = dp(3);
    const auto count = static_cast<float>(region_tools().size());
    const float side = std::min(static_cast<float>(area.width) - 2 * room, // all of them in a low window too
                                (static_cast<float>(area.height) - 2 * room) / count - gap);
    ImGui::SetNextWindowPos({static_cast<float>(area.x), static_cast<float>(area.y)});
    ImGui::SetNextWindowSize({static_cast<float>(area.width), static_cast<float>(area.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {room, room});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::vec(theme::kPanel));
    ImGui::Begin(parts::kRegionTools, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, gap});
    for (const RegionToolInfo& info : region_tools()) {
        if (ImGui::InvisibleButton(info.name, {std::max(side, 1.0F), std::max(side, 1.0F)}) &&
            info.tool != tools.tool())
            tools.choose(info.tool);
        probe::item(std::string("region.tool.") + info.name);
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const bool on = tools.tool() == info.tool;
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        if (on || ImGui::IsItemHovered())
            draw.AddRectFilled(low, high, on ? theme::kAccentDim : theme::kFieldHover, dp(4));
        draw_sign(draw, info.tool, {(low.x + high.x) / 2, (low.y + high.y) / 2}, high.y - low.y,
                  on ? IM_COL32_WHITE : theme::kText);
        focus_ring();
        tooltip(with_key(info.name, keys, info.action));
    }
    ImGui::PopStyleVar();
    ImGui::End();
}

} // namespace specklescope
