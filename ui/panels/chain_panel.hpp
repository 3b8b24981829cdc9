// The chain in the side panel: one section per stage with its parameters, and controls that add, remove and
// move stages.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/display.hpp"

namespace specklescope {

void draw_chain(Session& session, const Display& display);

// Edits of the chain from buttons, drags and the command palette.

/// Reason why no stage can be added; empty: possible.
std::string why_no_stage(Session& session);
/// Adds the stage at the end.
void add_stage(Session& session, const StageType& type);
void remove_stage(Session& session, std::size_t index);
/// Moves the stage to index `to`; the stages between shift by one.
void move_stage(Session& session, std::size_t from, std::size_t to);
void bypass_stage(Session& session, std::size_t index, bool bypassed);

} // namespace specklescope
