// Colour bar next to the picture: colours, ticks, symbol and unit. Dragging moves the ends of the range.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/mapping.hpp"
#include "pipeline/stage.hpp"
#include "ui/canvas/view.hpp"

#include <optional>

namespace specklescope {

/// Fractions of the values (0…1) outside the range.
struct BeyondRange {
    double below = 0, above = 0;
};

/// Preferred width of the bar in window coordinates.
float color_bar_width();
/// Draws into `area`. " *" after the unit marks values that rest on an assumption. Dragging near an end
/// moves that end, in the middle both ends; a double click restores the automatic range. Returns true if the
/// user changed the mapping. `curve`: the curve in effect, which places the ticks. `beyond`: draws an arrow
/// at an end with values outside the range; nullopt if they were not counted.
bool color_bar(const Rect& area, Mapping& mapping, const Quantity& quantity, const Exposure& exposure,
               ToneCurve curve, GLuint colors, const std::optional<BeyondRange>& beyond);
/// Draws the bar of a change, from -range to range. Dragging moves both ends within `decl`; a double click
/// restores `initial`. `beyond`: as above.
void change_bar(const Rect& area, double& range, const ParamDecl& decl, double initial,
                const Quantity& quantity, GLuint colors, const std::optional<BeyondRange>& beyond);

// Marks the colour maps that can be read without hues.

/// True if the luminance of the map (IEC 61966-2-1, ITU-R BT.709) grows from the first to the last colour,
/// apart from 8-bit rounding. Such a map keeps the order of values for colour-blind readers and in grey
/// prints.
bool grows_in_lightness(ColorMap map);

} // namespace specklescope
