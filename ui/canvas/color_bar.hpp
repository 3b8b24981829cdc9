// The scale beside the picture: colours, ticks, symbol and unit; dragging moves the ends of the range.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/mapping.hpp"
#include "pipeline/stage.hpp"
#include "ui/canvas/view.hpp"

#include <optional>

namespace specklescope {

/// Parts of the values, 0…1, that lie beyond the ends of the range.
struct BeyondRange {
    double below = 0, above = 0;
};

/// Width that the bar wants, in window coordinates.
float color_bar_width();
/// Draws into `area`; " *" behind the unit marks numbers that rest on an assumption. Dragging near an end
/// moves that end, in the middle both; a double click goes back to the automatic range. True if the user
/// changed the mapping.
/// `curve`: in effect; the ticks lie where it puts them. `beyond`: an arrow at an end says that values lie
/// behind it; nothing while nobody has counted them.
bool color_bar(const Rect& area, Mapping& mapping, const Quantity& quantity, const Exposure& exposure,
               ToneCurve curve, GLuint colors, const std::optional<BeyondRange>& beyond);
/// The bar of a change, from -range to range: dragging moves both ends, within `decl`; a double click goes
/// back to `initial`. `beyond`: as above.
void change_bar(const Rect& area, double& range, const ParamDecl& decl, double initial,
                const Quantity& quantity, GLuint colors, const std::optional<BeyondRange>& beyond);

// Which colour maps can be read without seeing hues.

/// The map's luminance (IEC 61966-2-1, ITU-R BT.709) grows from its first colour to its last, but for the
/// rounding of its 8 bits: who sees some hues as one, or prints it in grey, still sees the order of values.
bool grows_in_lightness(ColorMap map);

} // namespace specklescope
