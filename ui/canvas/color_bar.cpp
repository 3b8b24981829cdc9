#include "ui/canvas/color_bar.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/canvas/ticks.hpp"
#include "ui/panels/controls.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace specklescope {

namespace {

using theme::dp;

std::string unit_line(const Quantity& quantity, const TickScale& scale, bool assumed) {
    std::string text = quantity.unit == "1" ? "" : quantity.unit + (assumed ? " *" : "");
    if (scale.exponent != 0) {
        text = "×" + power_text(scale.exponent) + (text.empty() ? "" : "  " + text);
    }
    return text;
}

std::string stops_text(double stops) {
    if (stops == 0)
        return "";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%+.3g stops", stops);
    return text.data();
}

/// Draws ticks and labels: smaller if they would be cut at `right`, without overlaps.
void draw_ticks(ImDrawList& draw, const Rect& bar, const Mapping& m, ToneCurve curve, const Ticks& ticks,
                float right) {
    const float x = static_cast<float>(bar.x + bar.width), left = x + dp(7);
    const auto text_of = [&](std::int64_t i) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "%.*f", ticks.scale.decimals,
                      ticks.value(i) * ticks.scale.factor + 0.0);
        return std::string(text.data());
    };
    float widest = 1;
    for (std::int64_t i = ticks.first; i <= ticks.last; ++i)
        widest = std::max(widest, ImGui::CalcTextSize(text_of(i).c_str()).x);
    const float least = theme::fonts().small->FontSize * 0.6F;
    const float size = std::max(least, ImGui::GetFontSize() * std::min(1.0F, (right - left) / widest));
    ImFont* font = size < ImGui::GetFontSize() ? theme::fonts().small : ImGui::GetFont();
    float free = std::numeric_limits<float>::max();
    for (std::int64_t i = ticks.first; i <= ticks.last; ++i) {
        const double t = tone(curve, (ticks.value(i) - m.low) / (m.high - m.low));
        const float y = static_cast<float>(bar.y + bar.height * (1 - t));
        draw.AddLine({x, y}, {x + dp(4), y}, theme::kDim);
        const float top =
            std::clamp(y, static_cast<float>(bar.y), static_cast<float>(bar.y + bar.height)) - size / 2;
        if (top + size > free)
            continue;
        free = top;
        draw.AddText(font, size, {left, top}, theme::kText, text_of(i).c_str());
    }
}

/// Draws an arrow at each end with values outside the range.
void draw_beyond(ImDrawList& draw, const Rect& bar, const BeyondRange& beyond) {
    const float x = static_cast<float>(bar.x + bar.width / 2), wide = dp(5), tall = dp(6);
    const auto low = static_cast<float>(bar.y + bar.height), high = static_cast<float>(bar.y);
    if (beyond.above > 0)
        draw.AddTriangleFilled({x - wide, high - dp(2)}, {x + wide, high - dp(2)}, {x, high - dp(2) - tall},
                               theme::kWarning);
    if (beyond.below > 0)
        draw.AddTriangleFilled({x - wide, low + dp(2)}, {x + wide, low + dp(2)}, {x, low + dp(2) + tall},
                               theme::kWarning);
    probe::value("beyond.below", beyond.below);
    probe::value("beyond.above", beyond.above);
}

bool dragged() {
    return ImGui::IsItemActive() && ImGui::IsMouseDragging(0, 2.0F) && ImGui::GetIO().MouseDelta.y != 0;
}

/// Drags one end; the other end stays symmetric to 0.
bool drag_symmetric(const Rect& bar, double& end, double initial) {
    static bool upper = true;
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
        end = initial;
        return true;
    }
    if (ImGui::IsItemActivated())
        upper = ImGui::GetIO().MousePos.y < bar.y + bar.height / 2;
    if (!dragged())
        return false;
    const double delta = ImGui::GetIO().MouseDelta.y / bar.height * 2 * end;
    end += upper ? -delta : delta;
    return true;
}

/// The start of a drag decides which end it moves.
bool drag_range(const Rect& bar, Mapping& m) {
    static int part = 0;
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
        m.automatic = true;
        return true;
    }
    const double at = 1 - (ImGui::GetIO().MousePos.y - bar.y) / bar.height;
    if (ImGui::IsItemActivated())
        part = at > 0.67 ? 1 : at < 0.33 ? -1 : 0;
    if (!dragged())
        return false;
    const double delta = ImGui::GetIO().MouseDelta.y / bar.height * (m.high - m.low);
    m.automatic = false;
    // Dragging the top up enlarges the range.
    if (part >= 0)
        m.high += part == 0 ? delta : -delta;
    if (part <= 0)
        m.low += part == 0 ? delta : -delta;
    const double least = std::max({std::abs(m.low), std::abs(m.high), 1e-9}) * 1e-6;
    if (m.high - m.low < least)
        (part > 0 ? m.high : m.low) = part > 0 ? m.low + least : m.high - least;
    return true;
}

} // namespace

float color_bar_width() { return dp(86); }

namespace {

/// Draws the bar in `area` under an invisible control for the mouse; returns nullopt without space.
/// `mapping`: contains the displayed range.
std::optional<Rect> draw_bar(const Rect& area, const Mapping& mapping, const Quantity& quantity, bool assumed,
                             ToneCurve curve, GLuint colors, const std::optional<BeyondRange>& beyond) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight(), small = theme::fonts().small->FontSize;
    const std::string stops = stops_text(mapping.exposure_stops);
    const double foot = dp(22) + small * 1.15 + (stops.empty() ? 0 : small * 1.15);
    const Rect bar{area.x + dp(14), area.y + dp(18) + line * 2.4, dp(18),
                   area.height - dp(18) - line * 2.4 - foot};
    if (bar.height < dp(40) || !(mapping.high > mapping.low))
        return std::nullopt;
    const Ticks ticks =
        ticks_of(mapping.low, mapping.high, std::clamp(static_cast<int>(bar.height / dp(64)), 2, 10),
                 std::min(0.5, line / bar.height));
    const ImVec2 head(static_cast<float>(bar.x), static_cast<float>(area.y) + dp(10));
    draw.AddText(theme::fonts().bold, ImGui::GetFontSize(), head, theme::kText, quantity.symbol.c_str());
    draw.AddText(theme::fonts().small, small, {head.x, head.y + line * 1.15F},
                 assumed ? theme::kWarning : theme::kDim, unit_line(quantity, ticks.scale, assumed).c_str());
    const ImVec2 low(static_cast<float>(bar.x), static_cast<float>(bar.y));
    const ImVec2 high(static_cast<float>(bar.x + bar.width), static_cast<float>(bar.y + bar.height));
    const auto texture =
        reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(colors)); // NOLINT: as ImGui wants it
    draw.AddImageQuad(texture, low, {high.x, low.y}, high, {low.x, high.y}, {1, 0}, {1, 0}, {0, 0}, {0, 0});
    draw.AddRect(low, high, theme::kLine);
    draw_ticks(draw, bar, mapping, curve, ticks, static_cast<float>(area.x + area.width) - dp(2));
    if (beyond)
        draw_beyond(draw, bar, *beyond);
    const ImVec2 how(low.x - dp(6), high.y + dp(9));
    const ImU32 colour = mapping.automatic ? theme::kWarning : theme::kAccent;
    draw.AddText(theme::fonts().small, small, how, colour, mapping.automatic ? "auto" : "fixed");
    const std::string limits = number_text(mapping.low, 3) + " – " + number_text(mapping.high, 3);
    draw.AddText(
        theme::fonts().small, small, {how.x, how.y + small * 1.15F}, mapping.automatic ? colour : theme::kDim,
        fitted(*theme::fonts().small, limits, static_cast<float>(area.x + area.width) - how.x).c_str());
    draw.AddText(theme::fonts().small, small, {how.x, how.y + small * 2.3F}, theme::kAccent, stops.c_str());
    ImGui::SetCursorScreenPos(low);
    ImGui::InvisibleButton("color bar",
                           {static_cast<float>(bar.width) + dp(40), static_cast<float>(bar.height)});
    probe::widget("color_bar", bar.x, bar.y, bar.width, bar.height);
    if (ImGui::IsItemHovered())
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    return bar;
}

void bar_tooltip(const Quantity& quantity, const std::string& text) {
    tooltip(quantity.name + (quantity.unit == "1" ? "" : " in " + quantity.unit) + "\n" + text);
    if (ImGui::IsItemHovered())
        probe::value("color_bar.says", text);
}

/// Draws "lock" next to "auto" to keep the range, or "auto" next to "fixed" to let it follow the picture.
bool lock_button(const Rect& bar, Mapping& mapping) {
    const char* label = mapping.automatic ? "lock" : "auto";
    const ImFont& small = *theme::fonts().small;
    const float word =
        small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, mapping.automatic ? "auto" : "fixed").x;
    ImGui::SetCursorScreenPos(
        {static_cast<float>(bar.x) - dp(6) + word + dp(6), static_cast<float>(bar.y + bar.height) + dp(7)});
    ImGui::PushFont(theme::fonts().small);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {dp(4), 0});
    ImGui::PushStyleColor(ImGuiCol_Text, theme::vec(mapping.automatic ? theme::kWarning : theme::kDim));
    const bool pressed = ImGui::Button(label);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::PopFont();
    probe::item("range.lock");
    tooltip(mapping.automatic ? "The range adapts to each image, so brightness cannot be compared over time. "
                                "Click to keep the present limits."
                              : "The range is fixed. Click for an automatic range.");
    if (pressed)
        mapping.automatic = !mapping.automatic;
    return pressed;
}

/// Tooltip for the "*" of the symbol and unit above the bar.
void assumed_mark(const Rect& area, const Exposure& exposure) {
    ImGui::SetCursorScreenPos({static_cast<float>(area.x) + dp(14), static_cast<float>(area.y) + dp(8)});
    ImGui::InvisibleButton("assumed",
                           {static_cast<float>(area.width) - dp(16), ImGui::GetTextLineHeight() * 2.4F});
    probe::item("color_bar.assumed");
    tooltip(assumed_text(exposure));
}

std::string beyond_text(const std::optional<BeyondRange>& beyond) {
    return !beyond ? ""
                   : "\n" + share_text(beyond->below) + " of the values are below the range, " +
                         share_text(beyond->above) + " above it.";
}

} // namespace

bool color_bar(const Rect& area, Mapping& given, const Quantity& quantity, const Exposure& exposure,
               ToneCurve curve, GLuint colors, const std::optional<BeyondRange>& beyond) {
    Mapping mapping = given; // with the displayed range
    const ValueRange seen = exposed({given.low, given.high}, given.exposure_stops);
    mapping.low = seen.low;
    mapping.high = seen.high;
    const bool assumed = rests_on_assumption(quantity, exposure);
    const std::optional<Rect> bar = draw_bar(area, mapping, quantity, assumed, curve, colors, beyond);
    if (!bar)
        return false;
    const bool dragged_range = drag_range(*bar, mapping);
    std::string text = "Drag near the top or the bottom to move that end, in the middle to move both. Double "
                       "click for the automatic range.";
    text += beyond_text(beyond);
    if (assumed)
        text += "\n" + assumed_text(exposure);
    bar_tooltip(quantity, text);
    const bool locked = lock_button(*bar, mapping);
    if (assumed)
        assumed_mark(area, exposure);
    if (!dragged_range && !locked)
        return false;
    const ValueRange wanted = exposed({mapping.low, mapping.high}, -given.exposure_stops);
    given.automatic = mapping.automatic;
    given.low = wanted.low;
    given.high = wanted.high;
    return true;
}

void change_bar(const Rect& area, double& range, const ParamDecl& decl, double initial,
                const Quantity& quantity, GLuint colors, const std::optional<BeyondRange>& beyond) {
    Mapping mapping;
    mapping.automatic = false;
    mapping.low = -range;
    mapping.high = range;
    const std::optional<Rect> bar =
        draw_bar(area, mapping, quantity, false, ToneCurve::linear, colors, beyond);
    if (!bar)
        return;
    if (drag_symmetric(*bar, range, initial))
        range = std::clamp(range, decl.min, decl.max);
    bar_tooltip(quantity,
                "Drag to make the range wider or narrower, on both sides of 0. Double click for ± " +
                    number_text(initial, 3) + " %." + beyond_text(beyond));
}

namespace {

double linear(std::uint8_t code) {
    const double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

} // namespace

bool grows_in_lightness(ColorMap map) {
    constexpr double kRounding = 0.006; // half a step of each channel where they are steep
    double highest = 0;
    for (const Rgb& colour : color_table(map)) {
        const double luminance =
            0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
        if (luminance < highest - kRounding)
            return false;
        highest = std::max(highest, luminance);
    }
    return true;
}

} // namespace specklescope
