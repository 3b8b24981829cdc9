// The scale beside the picture: colours, ticks, symbol and unit; dragging moves the ends of the range.
#pragma once

#include "pipeline/mapping.hpp"
#include "pipeline/stage.hpp"
#include "ui/canvas/view.hpp"

namespace specklescope {

/// Width that the bar wants, in window coordinates.
float color_bar_width();
/// Draws into `area`. Dragging near an end moves that end, in the middle both; a double click goes back to
/// the automatic range. True if the user changed the mapping.
bool color_bar(const Rect& area, Mapping& mapping, const Quantity& quantity, GLuint colors);

} // namespace specklescope
