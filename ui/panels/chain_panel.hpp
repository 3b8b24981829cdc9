// The chain in the side panel: a section a stage with its parameters, and what adds, removes and moves
// stages.
#pragma once

#include "ui/canvas/display.hpp"
#include "session/session.hpp"

namespace specklescope {

void draw_chain(Session& session, const Display& display);

} // namespace specklescope
