#include "ui/canvas/pixel.hpp"

#include "pipeline/convert.hpp"
#include "ui/canvas/theme.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

/// f(samples of the pixel), or nullopt if there is no such pixel.
template <class F> auto at_pixel(const Frame& frame, int x, int y, F&& f) {
    using Found = std::optional<decltype(f(static_cast<const float*>(nullptr)))>;
    if (!frame || x < 0 || y < 0 || x >= frame.shape().width || y >= frame.shape().height)
        return Found();
    const ConstHostView view = frame.host();
    return dispatch(view.shape.type, [&](auto zero) {
        return Found(f(view.as<decltype(zero)>().row(y) + std::ptrdiff_t{x} * view.shape.channels));
    });
}

} // namespace

std::optional<double> grey_at(const Frame& frame, int x, int y) {
    return at_pixel(frame, x, y, [&](const auto* samples) {
        return frame.shape().channels == 3 ? double{grey_of<float>(samples, GreyChannel::luma)}
                                           : static_cast<double>(samples[0]);
    });
}

std::optional<Color> color_at(const Frame& frame, int x, int y) {
    if (!frame || frame.shape().channels != 3)
        return {};
    return at_pixel(frame, x, y, [](const auto* samples) {
        return Color{static_cast<double>(samples[0]), static_cast<double>(samples[1]),
                     static_cast<double>(samples[2])};
    });
}

namespace {

using theme::dp;

constexpr ImU32 kShadow = IM_COL32(0, 0, 0, 200);
constexpr ImU32 kMark = IM_COL32(255, 255, 255, 220);

/// Text with an outline, readable on any colour.
void outlined(ImDrawList& draw, ImFont* font, ImVec2 at, const std::string& text) {
    for (const ImVec2 step : {ImVec2(-1, 0), ImVec2(1, 0), ImVec2(0, -1), ImVec2(0, 1)})
        draw.AddText(font, font->FontSize, {at.x + step.x, at.y + step.y}, kShadow, text.c_str());
    draw.AddText(font, font->FontSize, at, IM_COL32_WHITE, text.c_str());
}

} // namespace

bool pixels_are_readable(const Camera::Placement& placement) { return placement.scale >= dp(56); }

int draw_pixel_values(const Rect& area, const Camera::Placement& placement, const Shape& image,
                      const std::function<std::string(int, int)>& text) {
    if (!pixels_are_readable(placement))
        return 0;
    const auto first = [](double edge, double origin, double scale) {
        return std::max(0, static_cast<int>(std::ceil((edge - origin) / scale)));
    };
    const auto end = [](double edge, double origin, double scale, int size) {
        return std::min(size, static_cast<int>(std::floor((edge - origin) / scale)));
    };
    const int x0 = first(area.x, placement.x, placement.scale),
              y0 = first(area.y, placement.y, placement.scale);
    const int x1 = end(area.x + area.width, placement.x, placement.scale, image.width);
    const int y1 = end(area.y + area.height, placement.y, placement.scale, image.height);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    ImFont* font = theme::fonts().small ? theme::fonts().small : ImGui::GetFont();
    int written = 0;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) {
            const std::string value = text(x, y);
            if (value.empty())
                continue;
            const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, value.c_str());
            outlined(draw, font,
                     theme::point(std::round(placement.x + (x + 0.5) * placement.scale - size.x / 2.0),
                                  std::round(placement.y + (y + 0.5) * placement.scale - size.y / 2.0)),
                     value);
            ++written;
        }
    return written;
}

void draw_crosshair(const Rect& area, const Camera::Placement& placement, int x, int y) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const double cx = placement.x + (x + 0.5) * placement.scale,
                 cy = placement.y + (y + 0.5) * placement.scale;
    draw.PushClipRect(theme::point(area.x, area.y), theme::point(area.x + area.width, area.y + area.height),
                      true);
    const auto line = [&](ImVec2 a, ImVec2 b) {
        draw.AddLine(a, b, kShadow, dp(3));
        draw.AddLine(a, b, kMark, dp(1));
    };
    const double gap = std::max<double>(placement.scale / 2, dp(6)); // leaves the pixel itself visible
    line(theme::point(area.x, cy), theme::point(cx - gap, cy));
    line(theme::point(cx + gap, cy), theme::point(area.x + area.width, cy));
    line(theme::point(cx, area.y), theme::point(cx, cy - gap));
    line(theme::point(cx, cy + gap), theme::point(cx, area.y + area.height));
    if (placement.scale >= dp(4))
        draw.AddRect(theme::point(cx - placement.scale / 2, cy - placement.scale / 2),
                     theme::point(cx + placement.scale / 2, cy + placement.scale / 2), kMark, 0, 0, dp(1));
    draw.PopClipRect();
}

} // namespace specklescope
