// Colours and dimensions of the window.
#pragma once

#include <imgui.h>

#include <string>

namespace specklescope::theme {

inline constexpr ImU32 kCanvas = IM_COL32(11, 13, 16, 255); ///< around the picture
inline constexpr ImU32 kPanel = IM_COL32(22, 26, 31, 255);
inline constexpr ImU32 kBar = IM_COL32(28, 33, 39, 255); ///< tool bar, status bar
inline constexpr ImU32 kLine = IM_COL32(46, 53, 61, 255);
inline constexpr ImU32 kField = IM_COL32(37, 43, 50, 255);
inline constexpr ImU32 kFieldHover = IM_COL32(47, 55, 64, 255);
inline constexpr ImU32 kText = IM_COL32(226, 231, 236, 255);
inline constexpr ImU32 kDim = IM_COL32(146, 157, 168, 255);
inline constexpr ImU32 kAccent = IM_COL32(66, 165, 196, 255);
inline constexpr ImU32 kAccentDim = IM_COL32(38, 92, 112, 255);
inline constexpr ImU32 kGood = IM_COL32(98, 190, 122, 255);
inline constexpr ImU32 kWarning = IM_COL32(235, 176, 72, 255);
inline constexpr ImU32 kError = IM_COL32(232, 92, 84, 255);
inline constexpr ImU32 kRecord = IM_COL32(229, 57, 53, 255);

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

/// Style for this scale (1: 96 dpi).
void apply(float scale);
/// Converts `px` at scale 1 to window coordinates.
float dp(float px);
/// Screen position from double coordinates.
inline ImVec2 point(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

} // namespace specklescope::theme
