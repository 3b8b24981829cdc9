// Regions over the pictures: a coloured outline on a dark one, visible on any colour, with the name. The
// selected region has handles and its mean.
#include "ui/regions/region_drawing.hpp"

#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace specklescope {

namespace {

using theme::dp;

constexpr ImU32 kBorder = IM_COL32(8, 10, 12, 205);
constexpr ImU32 kPlate = IM_COL32(10, 13, 16, 200);
constexpr double kPixelsShown = 6; ///< minimum of screen pixels per image pixel to shade the region's pixels
constexpr std::size_t kNamesShown = 300;

void polyline(ImDrawList& draw, const RegionView& view, const std::vector<RegionPoint>& corners, bool closed,
              ImU32 colour, float thick) {
    static std::vector<ImVec2> points; // main thread only
    points.clear();
    for (const RegionPoint& corner : corners) {
        const ImVec2 at = view.to_screen(corner);
        // Skip points on the same screen pixel: an outline has a point for each mouse movement.
        if (points.empty() || std::abs(at.x - points.back().x) + std::abs(at.y - points.back().y) >= 0.75F)
            points.push_back(at);
    }
    if (points.size() == 1)
        points.emplace_back(points[0].x + 1, points[0].y);
    const ImDrawFlags flags = closed ? ImDrawFlags_Closed : ImDrawFlags_None;
    draw.AddPolyline(points.data(), static_cast<int>(points.size()), kBorder, flags, thick + dp(2));
    draw.AddPolyline(points.data(), static_cast<int>(points.size()), colour, flags, thick);
}

/// Shades the counted pixels if they are large enough.
void shade_pixels(ImDrawList& draw, const RegionView& view, const Region& region, ImU32 colour) {
    if (view.scale < kPixelsShown)
        return;
    std::vector<RowSpan> spans;
    region_spans(region, view.picture.width, view.picture.height, spans);
    for (const RowSpan& span : spans) {
        const ImVec2 low = view.to_screen({span.x - 0.5, span.y - 0.5});
        const ImVec2 high = view.to_screen({span.x + span.length - 0.5, span.y + 0.5});
        draw.AddRectFilled(low, high, theme::fade(colour, 0.28F));
    }
}

void draw_handle(ImDrawList& draw, const ImVec2& at, ImU32 colour, float half) {
    draw.AddRectFilled({at.x - half - dp(1), at.y - half - dp(1)}, {at.x + half + dp(1), at.y + half + dp(1)},
                       kBorder, dp(1.5F));
    draw.AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, IM_COL32_WHITE, dp(1));
    draw.AddRectFilled({at.x - half + dp(1.5F), at.y - half + dp(1.5F)},
                       {at.x + half - dp(1.5F), at.y + half - dp(1.5F)}, colour);
}

void draw_handles(ImDrawList& draw, const RegionView& view, const Region& region, ImU32 colour) {
    const std::vector<RegionPoint> handles = region_handles(region);
    for (const RegionPoint& handle : handles)
        draw_handle(draw, view.to_screen(handle), colour, dp(3.5F));
    if (region.shape != RegionShape::polygon)
        return;
    const double shortest = RegionEditor::shortest_side(dp(6) / view.scale);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const RegionPoint &a = handles[i], &b = handles[(i + 1) % handles.size()];
        if (std::hypot(a.x - b.x, a.y - b.y) < shortest)
            continue;
        const ImVec2 at = view.to_screen({(a.x + b.x) / 2, (a.y + b.y) / 2});
        draw.AddCircleFilled(at, dp(3.5F), kBorder);
        draw.AddCircleFilled(at, dp(2.2F), IM_COL32_WHITE);
    }
}

void draw_padlock(ImDrawList& draw, const ImVec2& at, float size, ImU32 colour) {
    draw.AddRectFilled({at.x, at.y + size * 0.45F}, {at.x + size * 0.8F, at.y + size}, colour, dp(1));
    draw.PathArcTo({at.x + size * 0.4F, at.y + size * 0.45F}, size * 0.26F, 3.14159265F, 6.2831853F, 8);
    draw.PathStroke(colour, ImDrawFlags_None, dp(1.4F));
}

/// Draws the name above the upper left corner of a box or the highest point of an outline, or below it if
/// out of view. `value`: follows the name, as much as fits.
void draw_name(ImDrawList& draw, const RegionView& view, const Region& region, const std::string& value,
               ImU32 colour, bool selected) {
    const bool box = region.shape == RegionShape::rectangle || region.shape == RegionShape::ellipse;
    ImVec2 low = view.to_screen(region.points[0]);
    for (const RegionPoint& point : region.points) {
        const ImVec2 at = view.to_screen(point);
        if (box)
            low = {std::min(low.x, at.x), std::min(low.y, at.y)};
        else if (at.y < low.y)
            low = at;
    }
    ImFont& font = selected ? *theme::fonts().normal : *theme::fonts().small;
    const float own = (region.locked ? font.FontSize : 0) + dp(19) +
                      font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, value.c_str()).x;
    const std::string text = fitted(font, region.name, static_cast<float>(view.area.width) - own) + value;
    const ImVec2 size = font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, text.c_str());
    const float lock = region.locked ? font.FontSize : 0;
    const float width = size.x + lock + dp(15), height = size.y + dp(4);
    const float left = static_cast<float>(view.area.x), top = static_cast<float>(view.area.y);
    const float right = left + static_cast<float>(view.area.width);
    float x = std::clamp(low.x - dp(2), left + dp(2), std::max(left + dp(2), right - width - dp(2)));
    float y = low.y - height - dp(7);
    if (y < top + dp(2))
        y = std::max(low.y, top) + dp(7);
    x = std::round(x);
    y = std::round(y);
    draw.AddRectFilled({x, y}, {x + width, y + height}, kPlate, dp(3));
    draw.AddRectFilled({x, y}, {x + dp(3.5F), y + height}, colour, dp(3), ImDrawFlags_RoundCornersLeft);
    draw.AddText(&font, font.FontSize, {x + dp(9), y + dp(2)}, selected ? IM_COL32_WHITE : theme::kLightText,
                 text.c_str());
    if (region.locked)
        draw_padlock(draw, {x + size.x + dp(14), y + dp(3)}, font.FontSize * 0.75F, theme::kText);
}

bool in_view(const RegionView& view, const Region& region) {
    RegionPoint low = region.points[0], high = low;
    for (const RegionPoint& p : region.points) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    const ImVec2 a = view.to_screen(low), b = view.to_screen(high);
    const float room = dp(300); // the name may extend beyond the region
    return b.x + room > view.area.x && a.x - room < view.area.x + view.area.width &&
           b.y + room > view.area.y && a.y - room < view.area.y + view.area.height;
}

} // namespace

ImU32 region_colour_value(const Region& region, std::size_t index) {
    const std::string& text = region_colour(region, index);
    const unsigned long rgb = std::stoul(text.substr(1), nullptr, 16); // checked by check_region()
    return IM_COL32((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, 255);
}

const RegionStatistics* statistics_of(const RegionValues* values, const std::string& name,
                                      std::size_t index) {
    if (!values || index >= values->statistics.size() || values->placed->regions[index].name != name)
        return nullptr;
    return &values->statistics[index];
}

void RegionTools::draw(const RegionViews& views, const Session& session) const {
    const RegionEditor& editor = session.regions;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const bool compared = std::any_of(views.begin(), views.end(),
                                      [](const RegionView& view) { return view.values != nullptr; });
    for (const RegionView& view : views) {
        const ImVec2 low(static_cast<float>(view.area.x), static_cast<float>(view.area.y));
        draw.PushClipRect(
            low, {low.x + static_cast<float>(view.area.width), low.y + static_cast<float>(view.area.height)},
            true);
        const auto one = [&](std::size_t i) {
            const Region& region = editor.regions()[i];
            if (!in_view(view, region))
                return;
            const bool selected = editor.selected() == i;
            const ImU32 colour = region_colour_value(region, i);
            if (selected)
                shade_pixels(draw, view, region, colour);
            polyline(draw, view, region_corners(region), region.shape != RegionShape::line, colour,
                     dp(selected ? 2.4F : 1.8F));
            if (selected && !region.locked)
                draw_handles(draw, view, region, colour);
        };
        const auto label = [&](std::size_t i) {
            const Region& region = editor.regions()[i];
            const bool selected = editor.selected() == i;
            const RegionStatistics* found =
                selected || compared
                    ? statistics_of(view.values ? view.values : numbers.values.get(), region.name, i)
                    : nullptr;
            if ((!selected && i >= kNamesShown) || !in_view(view, region))
                return;
            const std::string value = found ? number_text(found->mean) : selected && numbers.stale ? "–" : "";
            probe::value("region.badge." + region.name, value);
            draw_name(draw, view, region, value.empty() ? value : "   " + value,
                      region_colour_value(region, i), selected);
        };
        for (const auto& part :
             {std::function<void(std::size_t)>(one), std::function<void(std::size_t)>(label)}) {
            for (std::size_t i = 0; i < editor.regions().size(); ++i)
                if (editor.selected() != i)
                    part(i);
            if (editor.selected()) // on top of the others
                part(*editor.selected());
        }
        draw_unfinished(view);
        draw.PopClipRect();
    }
}

void RegionTools::draw_unfinished(const RegionView& view) const {
    if (drawn_.empty())
        return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    std::vector<RegionPoint> points = drawn_;
    const bool polygon = tool_ == RegionTool::polygon;
    if (polygon)
        points.push_back({std::round(mouse_.x), std::round(mouse_.y)});
    if (points.size() < 2)
        return;
    const bool box = tool_ == RegionTool::rectangle || tool_ == RegionTool::ellipse;
    const Region region{"", static_cast<RegionShape>(static_cast<int>(tool_) - 1), points, "", false};
    polyline(draw, view, box ? region_corners(region) : points, box, IM_COL32_WHITE, dp(1.6F));
    if (polygon)
        for (std::size_t i = 0; i < drawn_.size(); ++i)
            draw_handle(draw, view.to_screen(drawn_[i]), theme::kAccent, dp(i == 0 ? 4.0F : 2.5F));
}

// Row of tools next to the picture.

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
    const float side = std::min(static_cast<float>(area.width) - 2 * room, // fits all buttons in a low window
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
                  theme::kText);
        focus_ring();
        tooltip(with_key(info.name, keys, info.action));
    }
    ImGui::PopStyleVar();
    ImGui::End();
}

} // namespace specklescope
