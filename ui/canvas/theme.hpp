// Colours and dimensions of the window.
#pragma once

#include <imgui.h>

#include <string>

namespace specklescope::theme {

/// One colour for each purpose.
struct Palette {
    ImU32 canvas;  ///< around the image
    ImU32 overlay; ///< of marks on the image
    ImU32 alarm;   ///< of a message that must be acknowledged
    ImU32 panel, bar, line, field, field_hover;
    ImU32 text, dim;
    ImU32 accent, accent_dim, accent_hot; ///< marks and text; fills; a fill that is dragged
    ImU32 good, warning, error, record;
    ImU32 record_field; ///< of a button that ends a recording
};
/// Lines, marks and text on panels and fields have a contrast of 4.5 : 1 or more in both.
inline constexpr Palette kDarkPalette = {
    .canvas = IM_COL32(11, 13, 16, 255),
    .overlay = IM_COL32(12, 15, 18, 232),
    .alarm = IM_COL32(58, 18, 18, 245),
    .panel = IM_COL32(22, 26, 31, 255),
    .bar = IM_COL32(28, 33, 39, 255),
    .line = IM_COL32(46, 53, 61, 255),
    .field = IM_COL32(37, 43, 50, 255),
    .field_hover = IM_COL32(47, 55, 64, 255),
    .text = IM_COL32(226, 231, 236, 255),
    .dim = IM_COL32(152, 163, 174, 255),
    .accent = IM_COL32(66, 165, 196, 255),
    .accent_dim = IM_COL32(38, 92, 112, 255),
    .accent_hot = IM_COL32(45, 112, 136, 255),
    .good = IM_COL32(98, 190, 122, 255),
    .warning = IM_COL32(235, 176, 72, 255),
    .error = IM_COL32(240, 112, 104, 255),
    .record = IM_COL32(229, 57, 53, 255),
    .record_field = IM_COL32(122, 34, 32, 255),
};
inline constexpr Palette kLightPalette = {
    .canvas = IM_COL32(222, 226, 230, 255),
    .overlay = IM_COL32(250, 251, 252, 236),
    .alarm = IM_COL32(255, 226, 223, 248),
    .panel = IM_COL32(246, 247, 249, 255),
    .bar = IM_COL32(235, 238, 241, 255),
    .line = IM_COL32(198, 204, 211, 255),
    .field = IM_COL32(225, 229, 234, 255),
    .field_hover = IM_COL32(213, 219, 225, 255),
    .text = IM_COL32(27, 32, 37, 255),
    .dim = IM_COL32(80, 89, 98, 255),
    .accent = IM_COL32(0, 98, 132, 255),
    .accent_dim = IM_COL32(164, 211, 226, 255),
    .accent_hot = IM_COL32(138, 197, 216, 255),
    .good = IM_COL32(18, 107, 46, 255),
    .warning = IM_COL32(132, 78, 0, 255),
    .error = IM_COL32(172, 30, 24, 255),
    .record = IM_COL32(204, 32, 30, 255),
    .record_field = IM_COL32(245, 190, 186, 255),
};
inline Palette palette = kDarkPalette; ///< in use; changed by apply()

inline const ImU32 &kCanvas = palette.canvas, &kOverlay = palette.overlay, &kAlarm = palette.alarm,
                   &kPanel = palette.panel, &kBar = palette.bar, &kLine = palette.line,
                   &kField = palette.field, &kFieldHover = palette.field_hover, &kText = palette.text,
                   &kDim = palette.dim, &kAccent = palette.accent, &kAccentDim = palette.accent_dim,
                   &kAccentHot = palette.accent_hot, &kGood = palette.good, &kWarning = palette.warning,
                   &kError = palette.error, &kRecord = palette.record, &kRecordField = palette.record_field;
inline constexpr ImU32 kLightText = kDarkPalette.text; ///< on dark plates that both themes have

inline ImVec4 vec(ImU32 color) { return ImGui::ColorConvertU32ToFloat4(color); }
/// The same colour, less opaque.
inline ImU32 fade(ImU32 color, float alpha) {
    const auto a = static_cast<ImU32>(static_cast<float>(color >> IM_COL32_A_SHIFT) * alpha);
    return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

struct Fonts {
    ImFont* normal = nullptr;
    ImFont* bold = nullptr;
    ImFont* small = nullptr;
    ImFont* large = nullptr;
    ImFont* huge = nullptr; ///< of numbers that are read from afar; Latin letters, digits, signs of units
};

/// Fills the atlas of the current ImGui context for this scale. Uses DejaVu Sans if it is installed,
/// otherwise ImGui's own font and sets `note`.
void load_fonts(float scale, std::string* note);
const Fonts& fonts();

/// Colours, and style for this scale (1: 96 dpi).
void apply(float scale, bool light = false);
/// Converts `px` at scale 1 to window coordinates.
float dp(float px);
/// Screen position from double coordinates.
inline ImVec2 point(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

} // namespace specklescope::theme
