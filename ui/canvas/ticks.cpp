#include "ui/canvas/ticks.hpp"

#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

constexpr int kMostParts = 20; ///< enough for at least three steps between any two ends

} // namespace

Ticks ticks_of(double low, double high, int parts, double apart) {
    Ticks ticks;
    const double span = high - low;
    if (!(span > 0) || !std::isfinite(span))
        return ticks;
    for (;; ++parts) {
        ticks.scale = tick_scale(low, high, parts);
        const double step = ticks.scale.step;
        const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
        constexpr double kExact = 9007199254740992; // 2^53: larger neighbouring integers have the same double
        if (!(std::abs(first) < kExact) || !(std::abs(last) < kExact))
            return {};
        ticks.first = static_cast<std::int64_t>(first);
        ticks.last = static_cast<std::int64_t>(last);
        if ((last - first) * step >= apart * span || parts >= kMostParts)
            return ticks;
    }
}

namespace {

using theme::dp;

} // namespace

Rect draw_scale_bar(const Rect& area, double um, float above) {
    const double room = std::min<double>(dp(180), area.width * 0.3);
    if (!(um > 0) || room < dp(24) || area.height < dp(60) + above)
        return {};
    const ScaleBar bar = scale_bar(um, room);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 text = ImGui::CalcTextSize(bar.text.c_str());
    const auto length = static_cast<float>(bar.length);
    const float width = std::max(length, text.x) + dp(20), height = text.y + dp(20);
    const ImVec2 low(static_cast<float>(area.x) + dp(12),
                     static_cast<float>(area.y + area.height) - dp(12) - above - height);
    draw.AddRectFilled(low, {low.x + width, low.y + height}, theme::fade(theme::kOverlay, 0.8F), dp(5));
    draw.AddText({low.x + (width - text.x) / 2, low.y + dp(4)}, theme::kText, bar.text.c_str());
    const float x = low.x + (width - length) / 2, y = low.y + height - dp(11);
    draw.AddRectFilled({x, y}, {x + length, y + dp(4)}, theme::kText);
    probe::widget("scale.bar", x, y, bar.length, dp(4));
    probe::value("scale.text", bar.text);
    area_tooltip(low, {low.x + width, low.y + height},
                 "Scale bar: " + bar.text + " on the object. Display, Scale changes the size of a pixel.");
    probe::value("scale.um", bar.um);
    return {low.x, low.y, width, height};
}

} // namespace specklescope
