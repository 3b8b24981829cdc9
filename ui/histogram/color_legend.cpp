// What the colours of pixels without a number mean.
#include "pipeline/mapping.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/histogram/histogram_panel.hpp"

#include <tuple>

namespace specklescope {

using theme::dp;

float color_legend_height() { return theme::fonts().small->FontSize * 1.25F * 3 + dp(10); }

void draw_color_legend(const Rect& area, const PixelCounts& counts) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float small = theme::fonts().small->FontSize, line = small * 1.25F;
    const auto value = [](const Rgb& color) { return IM_COL32(color[0], color[1], color[2], 255); };
    float y = static_cast<float>(area.y + area.height) - color_legend_height();
    const auto x = static_cast<float>(area.x) + dp(8);
    for (const auto& [name, color, count] :
         {std::tuple{"undefined", value(kUndefinedColor), counts.undefined},
          {"infinite", value(kInfiniteColor), counts.infinite},
          {"saturated", value(kSaturatedColor), counts.raw_saturated}}) {
        draw.AddRectFilled({x, y + small * 0.15F}, {x + small * 0.75F, y + small * 0.9F}, color, dp(2));
        draw.AddText(theme::fonts().small, small, {x + small, y},
                     count > 0 ? theme::kText : theme::fade(theme::kDim, 0.8F), name);
        y += line;
    }
    probe::widget("color_legend", area.x, area.y + area.height - color_legend_height(), area.width,
                  color_legend_height());
}

} // namespace specklescope
