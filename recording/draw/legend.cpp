#include "have_cairo.hpp"
#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "recording/draw/legend.hpp"

#include "analysis/region_editor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace specklescope {

std::string figure(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value + 0.0);
    return text;
}

/// "×10³  1/s".
std::string unit_text(const std::string& unit, const TickScale& scale) {
    std::string text = scale.exponent == 0 ? "" : "×1e" + std::to_string(scale.exponent) + "  ";
    return text + (unit == "1" ? "" : unit);
}

std::vector<double> ticks_of(double low, double high, const TickScale& scale) {
    std::vector<double> ticks;
    for (auto i = static_cast<std::int64_t>(std::ceil(low / scale.step - 1e-9));
         static_cast<double>(i) * scale.step <= high + scale.step * 1e-9; ++i)
        ticks.push_back(static_cast<double>(i) * scale.step);
    return ticks;
}

void draw_color_bar(Canvas& canvas, const PaperRect& area, const ColorScale& scale, const BarStyle& style) {
    const auto& [low, high] = scale.range;
    if (!(high > low))
        return;
    std::vector<std::byte> colours;
    for (int i = 255; i >= 0; --i)
        for (const std::uint8_t part : color_table(scale.map)[static_cast<std::size_t>(i)])
            colours.push_back(static_cast<std::byte>(part));
    canvas.picture(HostView(colours.data(), Shape{1, 256, 3, PixelType::u8}), area);
    canvas.frame(area, style.lines);
    const double size = style.size, right = area.x + area.width;
    const TickScale ticks =
        tick_scale(low, high, std::clamp(static_cast<int>(area.height / (4.6 * size)), 2, 10));
    for (const double value : ticks_of(low, high, ticks)) {
        const double part = tone(scale.curve, (value - low) / (high - low));
        const double at = area.y + area.height * (1 - part);
        canvas.stroke({{right, at}, {right + size * 0.43, at}}, false, style.lines, size * 0.07);
        canvas.line(right + size * 0.71, at - size * 0.64, size * 6.57,
                    figure(value * ticks.factor, ticks.decimals), {.size = size, .ink = style.figures});
    }
    const double wide = size * 8.57;
    canvas.line(area.x - size * 0.29, area.y - size * 2.86, wide, scale.symbol,
                {.size = size, .bold = true, .ink = style.symbol});
    canvas.line(area.x - size * 0.29, area.y - size * 1.57, wide, unit_text(scale.unit, ticks),
                {.size = size * 0.93, .ink = style.lines});
}

std::pair<double, double> draw_outline(Canvas& canvas, const OutlinePlace& place, const Region& region,
                                       const Ink& ink, double thick) {
    std::vector<std::pair<double, double>> points;
    for (const RegionPoint& corner : region_corners(region))
        points.emplace_back(place.x + (corner.x + 0.5) * place.pixel,
                            place.y + (corner.y + 0.5) * place.pixel);
    const bool closed = region.shape != RegionShape::line;
    canvas.stroke(points, closed, kBlack, thick * 2);
    canvas.stroke(points, closed, ink, thick);
    return points.front();
}

} // namespace specklescope
#endif
