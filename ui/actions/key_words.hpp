// Names of keys in sentences, from the current bindings. A key that means something else is never named.
#pragma once

#include "config/keys/bindings.hpp"
#include "ui/canvas/input_queue.hpp"

#include <optional>
#include <string>

namespace specklescope {

/// First key of the action that triggers it ("O"); empty if there is none. With `selected_region`, keys that
/// act on the region instead of the film are skipped.
std::string key_of(const KeyBindings& keys, Action action, bool selected_region = false);
/// `before`, the key and `after`; empty without a key.
std::string key_words(const std::string& before, const std::string& key, const std::string& after);

// A key press in the notation of [keys].

/// Returns nullopt for Shift and for a key whose character follows.
std::optional<KeyChord> chord_of(const KeyPress& press);

} // namespace specklescope
