// The lines of the panel for the change against the baseline, and for how the two pictures are laid together.
#pragma once

#include "ui/panels/panel.hpp"

namespace specklescope {

void draw_change_lines(Session& session, ViewState& state, const Display& display);
void draw_layout_lines(Session& session);

} // namespace specklescope
