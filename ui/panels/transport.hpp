// The bar under a file that is played: buttons, the time line, the marks of the loop, the speed.
#pragma once

#include "ui/canvas/view.hpp"
#include "ui/film.hpp"

namespace specklescope {

/// Its height in an area of this width: one row where there is room, else the time line has its own; 0 for
/// what is no film.
double transport_height(const Session& session, double width);
void draw_transport(const Rect& area, Session& session, Film& film);

} // namespace specklescope
