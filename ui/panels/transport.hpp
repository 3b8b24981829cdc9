// Transport bar below a file: buttons, time line, loop marks, speed.
#pragma once

#include "ui/canvas/view.hpp"
#include "ui/film.hpp"
#include "ui/traces/intervals_view.hpp"

namespace specklescope {

/// Height in an area of this width. The time line has its own row if one row is too narrow. 0 without a
/// film.
double transport_height(const Session& session, double width);
void draw_transport(const Rect& area, Session& session, Film& film, IntervalsView& intervals);

} // namespace specklescope
