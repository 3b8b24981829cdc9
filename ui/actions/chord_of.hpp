// A press of a key, as [keys] names it.
#pragma once

#include "config/keys/bindings.hpp"
#include "ui/canvas/input_queue.hpp"

#include <optional>

namespace specklescope {

/// Nothing for a key that says nothing by itself: Shift, or one whose character follows.
std::optional<KeyChord> chord_of(const KeyPress& press);

} // namespace specklescope
