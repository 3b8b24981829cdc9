// What buttons, drags and the command palette do with the stages of a chain.
#pragma once

#include "session/session.hpp"

namespace specklescope {

/// Why no stage can be added; empty: one can.
std::string why_no_stage(Session& session);
/// Behind the last one.
void add_stage(Session& session, const StageType& type);
void remove_stage(Session& session, std::size_t index);
/// To the place where `to` is; those between make room, towards where it was.
void move_stage(Session& session, std::size_t from, std::size_t to);
void bypass_stage(Session& session, std::size_t index, bool bypassed);

} // namespace specklescope
