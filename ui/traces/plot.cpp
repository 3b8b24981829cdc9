#include "ui/traces/plot.hpp"

#include "analysis/baseline.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/canvas/ticks.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace specklescope {

namespace {

using theme::dp;

ImU32 grid_color() { return theme::fade(theme::kText, 0.07F); }
ImU32 label_back() { return theme::fade(theme::kCanvas, 0.78F); }

float crisp(double x) { return std::floor(static_cast<float>(x)) + 0.5F; }

ImDrawList& list() { return *ImGui::GetWindowDrawList(); }

void small_text(const ImVec2& at, ImU32 color, const std::string& text) {
    const ImFont* font = theme::fonts().small;
    list().AddText(font, font->FontSize, at, color, text.c_str());
}
ImVec2 small_size(const std::string& text) {
    const ImFont* font = theme::fonts().small;
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str());
}
/// Draws text on a dark background, readable over curves.
void label(const ImVec2& at, ImU32 color, const std::string& text) {
    const ImVec2 size = small_size(text);
    list().AddRectFilled({at.x - dp(3), at.y - dp(1)}, {at.x + size.x + dp(3), at.y + size.y + dp(1)},
                         label_back(), dp(2));
    small_text(at, color, text);
}

void value_axis(const PlotArea& plot, const std::string& title, const std::string& unit) {
    const Rect& in = plot.inner;
    const ValueSpan& span = plot.span;
    const double line = small_size("0").y;
    const Ticks ticks = ticks_of(span.low, span.high, std::clamp(static_cast<int>(in.height / dp(25)), 2, 8),
                                 std::min(0.5, line / in.height));
    const TickScale& scale = ticks.scale;
    double free = std::numeric_limits<double>::infinity();
    for (std::int64_t i = ticks.first; i <= ticks.last; ++i) {
        const double value = ticks.value(i);
        const double y = plot.y(value);
        list().AddLine(theme::point(in.x, crisp(y)), theme::point(in.x + in.width, crisp(y)), grid_color());
        std::array<char, 48> text{};
        std::snprintf(text.data(), text.size(), "%.*f", scale.decimals, value * scale.factor + 0.0);
        const double top = // the first line applies if the plot is lower than a line of text
            std::max(in.y - line * 0.3, std::min(y - line / 2, in.y + in.height - line * 0.8));
        if (top + line > free)
            continue;
        free = top;
        small_text(theme::point(in.x - small_size(text.data()).x - dp(6), top), theme::kDim, text.data());
    }
    std::string scaled = unit;
    if (scale.exponent != 0)
        scaled = "×" + power_text(scale.exponent) + (unit.empty() ? "" : " " + unit);
    const std::string text = title + (scaled.empty() ? "" : ", " + scaled);
    probe::value("traces.axis", text);
    small_text(theme::point(in.x, in.y - line - dp(2)), theme::kText,
               fitted(*theme::fonts().small, text, static_cast<float>(in.width)));
}

void time_axis(const PlotArea& plot) {
    const Rect& in = plot.inner;
    const double from = static_cast<double>(plot.from_ns) * 1e-9, to = static_cast<double>(plot.to_ns) * 1e-9;
    constexpr int kMostParts = 12;
    double step = 0;
    std::int64_t first = 0, last = 0;
    // A single number does not show the scale.
    for (int parts = std::clamp(static_cast<int>(in.width / dp(86)), 2, kMostParts);
         last <= first && parts <= kMostParts; ++parts) {
        step = time_step(to - from, parts);
        first = static_cast<std::int64_t>(std::ceil(from / step - 1e-9));
        last = static_cast<std::int64_t>(std::floor(to / step + 1e-9));
    }
    double free = in.x - dp(20);
    for (std::int64_t i = first; i <= last; ++i) {
        const double seconds = static_cast<double>(i) * step;
        const double x = in.x + (seconds - from) / (to - from) * in.width;
        list().AddLine(theme::point(crisp(x), in.y), theme::point(crisp(x), in.y + in.height), grid_color());
        const std::string text = axis_text(seconds, step, plot.timed);
        const double width = small_size(text).x;
        const double left = std::min(x - width / 2, in.x + in.width - width + dp(6));
        if (left < free)
            continue;
        small_text(theme::point(left, in.y + in.height + dp(4)), theme::kDim, text);
        free = left + width + dp(10);
    }
}

/// Draws adjacent columns without gaps: bars from minimum to maximum, extended to the neighbour's range.
void draw_dense(const PlotArea& plot, const std::vector<TraceColumn>& columns, ImU32 color,
                const std::vector<std::pair<float, float>>& heights) {
    const float thin = dp(0.75F);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        auto [top, bottom] = heights[i];
        const auto x = static_cast<float>(plot.x(columns[i].time_ns));
        if (i > 0 && !columns[i].broken) {
            const auto [last_top, last_bottom] = heights[i - 1];
            const auto last_x = static_cast<float>(plot.x(columns[i - 1].time_ns));
            if (x - last_x > dp(1.6F)) { // columns without frames between
                list().AddLine({last_x, (last_top + last_bottom) / 2}, {x, (top + bottom) / 2}, color,
                               2 * thin);
            } else {
                top = std::min(top, last_bottom);
                bottom = std::max(bottom, last_top);
            }
        }
        list().AddRectFilled({x - thin, top - thin}, {x + thin, bottom + thin}, color);
    }
}

/// Draws a separate line between two samples. A polyline would become very thin at a sharp peak and detach
/// the peak from its flanks.
void draw_samples(const PlotArea& plot, const std::vector<TraceColumn>& columns, ImU32 color,
                  const std::vector<std::pair<float, float>>& heights) {
    const double spacing = columns.size() > 1 ? plot.inner.width / static_cast<double>(columns.size()) : 1e9;
    const bool dots = spacing > dp(7);
    ImVec2 before;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const ImVec2 at(static_cast<float>(plot.x(columns[i].time_ns)), heights[i].first);
        const bool joined = i > 0 && !columns[i].broken;
        if (joined) { // AddLine would shift it by half a pixel, away from the dots
            list().PathLineTo(before);
            list().PathLineTo(at);
            list().PathStroke(color, 0, dp(1.5F));
        }
        const bool alone = !joined && (i + 1 == columns.size() || columns[i + 1].broken);
        if (dots || alone)
            list().AddCircleFilled(at, dots ? dp(2) : dp(1.3F), color, dots ? 8 : 6);
        before = at;
    }
}

} // namespace

Rect plot_inner(const Rect& area) {
    const double line = small_size("0").y, left = dp(52), right = dp(10);
    const double top = line + dp(5), bottom = line + dp(8);
    return {area.x + left, area.y + top, std::max(1.0, area.width - left - right),
            std::max(1.0, area.height - top - bottom)};
}

void draw_axes(const PlotArea& plot, const std::string& title, const std::string& unit) {
    const Rect& in = plot.inner;
    list().AddRectFilled(theme::point(in.x, in.y), theme::point(in.x + in.width, in.y + in.height),
                         theme::kCanvas);
    value_axis(plot, title, unit);
    time_axis(plot);
    list().AddRect(theme::point(in.x, in.y), theme::point(in.x + in.width, in.y + in.height), theme::kLine);
    area_tooltip(theme::point(in.x - dp(52), in.y), theme::point(in.x, in.y + in.height),
                 title + (unit.empty() ? "" : " in " + unit) +
                     ". Wheel and drag on the axis change its range.");
    area_tooltip(theme::point(in.x, in.y + in.height),
                 theme::point(in.x + in.width, in.y + in.height + dp(24)),
                 std::string(plot.timed ? "Time" : "Frames, because the source has no times") +
                     ". The wheel zooms, drag moves, a double click fits.");
}

void draw_curve(const PlotArea& plot, const std::vector<TraceColumn>& columns, ImU32 color, double baseline) {
    const bool relative = !std::isnan(baseline);
    const double far = 4 * plot.inner.height; // a float cannot represent positions far outside the view
    std::vector<std::pair<float, float>> heights;
    heights.reserve(columns.size());
    bool bars = false;
    for (const TraceColumn& column : columns) {
        double low = column.low, high = column.high;
        if (relative) {
            low = relative_change(low, baseline);
            high = relative_change(high, baseline);
        }
        bars = bars || column.low != column.high;
        const auto place = [&](double value) {
            return static_cast<float>(std::clamp(plot.y(value), plot.inner.y - far, plot.inner.y + far));
        };
        heights.emplace_back(place(std::max(low, high)), place(std::min(low, high)));
    }
    list().PushClipRect(theme::point(plot.inner.x, plot.inner.y),
                        theme::point(plot.inner.x + plot.inner.width, plot.inner.y + plot.inner.height),
                        true);
    if (bars)
        draw_dense(plot, columns, color, heights);
    else
        draw_samples(plot, columns, color, heights);
    list().PopClipRect();
}

void draw_restarts(const PlotArea& plot, const std::vector<TraceRestart>& restarts) {
    const Rect& in = plot.inner;
    const TraceRestart* before = nullptr;
    double free = in.x; // where the last label ends
    for (const TraceRestart& restart : restarts) {
        const double x = plot.x(restart.time_ns);
        if (x < in.x || x > in.x + in.width || (before && before->what == restart.what && x < free))
            continue;
        before = &restart;
        const int dashes = static_cast<int>(in.height / dp(6));
        for (int i = 0; i <= dashes; ++i) {
            const double y = in.y + i * static_cast<double>(dp(6));
            list().AddLine(theme::point(crisp(x), y),
                           theme::point(crisp(x), std::min(y + dp(3), in.y + in.height)), theme::kDim);
        }
        const double width = in.x + in.width - x - dp(8);
        if (width <= dp(40) || x < free)
            continue;
        const std::string text =
            fitted(*theme::fonts().small, restart.what, static_cast<float>(std::min<double>(width, dp(220))));
        label(theme::point(x + dp(5), in.y + in.height - small_size("0").y - dp(4)), theme::kDim, text);
        free = x + dp(10) + small_size(text).x;
    }
}

Rect draw_event(const PlotArea& plot, const TimedEvent& event, int row) {
    const Rect& in = plot.inner;
    const double x = plot.x(event.time_ns);
    if (x < in.x || x > in.x + in.width)
        return {};
    list().AddLine(theme::point(crisp(x), in.y), theme::point(crisp(x), in.y + in.height), theme::kWarning,
                   1);
    const std::string text = fitted(*theme::fonts().small, event.mark.label, dp(140));
    const ImVec2 size = small_size(text);
    double left = x + dp(5);
    if (left + size.x + dp(4) > in.x + in.width)
        left = x - size.x - dp(5);
    const double top = in.y + dp(3) + static_cast<float>(row) * (size.y + dp(4));
    label(theme::point(left, top), theme::kWarning, text);
    return {left - dp(3), top - dp(1), size.x + dp(6), size.y + dp(2)};
}

void draw_playhead(const PlotArea& plot, std::int64_t time_ns) {
    const Rect& in = plot.inner;
    const double x = plot.x(time_ns);
    if (x >= in.x && x <= in.x + in.width)
        list().AddLine(theme::point(crisp(x), in.y), theme::point(crisp(x), in.y + in.height),
                       theme::fade(theme::kAccent, 0.7F));
}

void draw_cursor(const PlotArea& plot, const TraceMoment& moment) {
    const Rect& in = plot.inner;
    const double x = plot.x(moment.time_ns);
    list().AddLine(theme::point(crisp(x), in.y), theme::point(crisp(x), in.y + in.height),
                   theme::fade(theme::kText, 0.55F));
    const double span = static_cast<double>(plot.to_ns - plot.from_ns) * 1e-9;
    std::string text = axis_text(static_cast<double>(moment.time_ns) * 1e-9,
                                 std::clamp(span / 2000, 1e-6, 1.0), plot.timed) +
                       " · frame " + count_text(moment.frame());
    if (plot.timed && moment.capture_ns != moment.time_ns)
        text += " · at " + time_text(static_cast<double>(moment.capture_ns) * 1e-9, 0.001) + " of the source";
    const ImVec2 size = small_size(text);
    const double left = x + dp(8) + size.x < in.x + in.width ? x + dp(8) : x - dp(8) - size.x;
    label(theme::point(std::max(left, in.x + dp(3)), in.y + in.height - 2 * size.y - dp(8)), theme::kText,
          text);
}

void draw_warning(const Rect& area, const std::string& sentence) {
    const ImFont& small = *theme::fonts().small;
    list().AddText(&small, small.FontSize, theme::point(area.x + dp(8), area.y + dp(4)), theme::kWarning,
                   fitted(small, sentence, static_cast<float>(area.width) - dp(16)).c_str());
}

void draw_empty(const Rect& area, const std::string& sentence) {
    const ImVec2 at = theme::point(area.x + dp(16), area.y);
    const auto width = static_cast<float>(area.width) - dp(32);
    const ImFont* font = theme::fonts().normal;
    const std::string text = wrapped(*font, sentence, width);
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, text.c_str());
    list().AddText(font, font->FontSize,
                   {at.x + std::max(0.0F, (width - size.x) / 2),
                    at.y + std::max(0.0F, (static_cast<float>(area.height) - size.y) / 2)},
                   theme::kDim, text.c_str(), nullptr, width);
}

} // namespace specklescope
