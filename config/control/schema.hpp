// The requests of --control for other programs' tools.
#pragma once

#include <string>

namespace specklescope {

/// As JSON Schema (2020-12), from the table that they are carried out by.
std::string control_schema();

} // namespace specklescope
