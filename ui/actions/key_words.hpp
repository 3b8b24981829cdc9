// Keys within sentences, as they are now: none is named that does something else.
#pragma once

#include "config/keys/bindings.hpp"
#include "ui/canvas/input_queue.hpp"

#include <optional>
#include <string>

namespace specklescope {

/// What to press, "O": the first of the action's keys that means it. Of a `selected_region` some keys mean
/// that region and not the film. Empty: it has none.
std::string key_of(const KeyBindings& keys, Action action, bool selected_region = false);
/// `before`, the key, `after`; nothing at all where there is no key.
std::string key_words(const std::string& before, const std::string& key, const std::string& after);

// A press of a key, as [keys] names it.

/// Nothing for a key that says nothing by itself: Shift, or one whose character follows.
std::optional<KeyChord> chord_of(const KeyPress& press);

} // namespace specklescope
