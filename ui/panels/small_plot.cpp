#include "ui/panels/small_plot.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/canvas/ticks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace specklescope {

namespace {

using theme::dp;

/// An axis on the screen: values from 0 to `high` between two positions.
struct Axis {
    double high = 1, from = 0, to = 1;
    double at(double value) const { return from + value / high * (to - from); }
};

ImVec2 text_size(const std::string& text) {
    const ImFont* font = theme::fonts().small;
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str());
}
void draw_text(const ImVec2& at, ImU32 color, const std::string& text) {
    const ImFont* font = theme::fonts().small;
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, color, text.c_str());
}

/// Draws grid and numbers. Returns the title with the power of ten that the numbers share.
std::string draw_axis(const Axis& axis, const Axis& other, bool vertical, std::string title) {
    const Ticks ticks = ticks_of(0, axis.high, vertical ? 4 : 5, 0.3);
    for (std::int64_t i = ticks.first; i <= ticks.last; ++i) {
        const double at = axis.at(ticks.value(i));
        const ImVec2 low = vertical ? theme::point(other.from, at) : theme::point(at, other.from);
        const ImVec2 high = vertical ? theme::point(other.to, at) : theme::point(at, other.to);
        ImGui::GetWindowDrawList()->AddLine(low, high, theme::fade(theme::kText, 0.1F));
        std::array<char, 48> text{};
        std::snprintf(text.data(), text.size(), "%.*f", ticks.scale.decimals,
                      ticks.value(i) * ticks.scale.factor);
        const ImVec2 size = text_size(text.data());
        draw_text(vertical ? ImVec2(low.x - size.x - dp(5), low.y - size.y / 2)
                           : ImVec2(low.x - size.x / 2, low.y + dp(3)),
                  theme::kDim, text.data());
    }
    if (ticks.scale.exponent != 0)
        title += " ×" + power_text(ticks.scale.exponent);
    return title;
}

} // namespace

void draw_small_plot(const SmallPlot& plot, const ImVec2& size) {
    ImGui::Dummy(size);
    probe::item(plot.name);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float line = text_size("0").y;
    Axis x{0, low.x + dp(44), high.x - dp(12)}, y{0, high.y - 2 * line - dp(6), low.y + line + dp(6)};
    for (const auto* all : {&plot.points, &plot.curve})
        for (const auto& [a, b] : *all) {
            x.high = std::max(x.high, a * 1.04);
            y.high = std::max(y.high, b * 1.04);
        }
    if (!(x.high > 0) || !(y.high > 0))
        return;
    const std::string x_title = draw_axis(x, y, false, plot.x), y_title = draw_axis(y, x, true, plot.y);
    draw_text(theme::point(x.to - text_size(x_title).x, y.from + line + dp(4)), theme::kText, x_title);
    draw_text({low.x, low.y}, theme::kText, y_title);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRect(theme::point(x.from, y.to), theme::point(x.to, y.from), theme::kLine);
    list.PushClipRect(theme::point(x.from, y.to), theme::point(x.to, y.from), true);
    for (std::size_t i = 1; i < plot.curve.size(); ++i)
        list.AddLine(theme::point(x.at(plot.curve[i - 1].first), y.at(plot.curve[i - 1].second)),
                     theme::point(x.at(plot.curve[i].first), y.at(plot.curve[i].second)), theme::kAccent,
                     dp(1.5F));
    list.PopClipRect();
    for (const auto& [a, b] : plot.points)
        list.AddCircleFilled(theme::point(x.at(a), y.at(b)), dp(3.5F), theme::kWarning);
}

} // namespace specklescope
