// The section of the panel from which recordings and snapshots begin.
#pragma once

#include "ui/panels/panel.hpp"

namespace specklescope {

void draw_record(Session& session, ViewState& state);

} // namespace specklescope
