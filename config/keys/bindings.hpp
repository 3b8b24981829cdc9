// Keys of the window's actions: defaults, and changes by a [keys] table.
#pragma once

#include "config/keys/actions.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// A key with its modifiers. Characters are those of the user's layout: "[" is this character, independent
/// of the position of its key.
struct KeyChord {
    bool ctrl = false, alt = false, shift = false;
    std::string key; ///< "Left", "F1", or one character; letters upper case
    bool operator==(const KeyChord&) const = default;
};
/// "Ctrl+Shift+O", "Space", "m", "["; names and letters in upper or lower case. Throws UsageError.
KeyChord parse_chord(std::string_view text);
std::string to_string(const KeyChord& chord); ///< parse_chord() reads it
/// Text for users: "Ctrl O", "←".
std::string shown(const KeyChord& chord);
/// The keys that have a name: "Left", …
const std::vector<std::string>& key_names();

class KeyBindings {
public:
    KeyBindings(); ///< by default
    const std::vector<KeyChord>& keys(Action action) const { return keys_[static_cast<std::size_t>(action)]; }
    /// Replaces the keys of the action; empty: no key.
    void set(Action action, std::vector<KeyChord> keys);
    /// Actions of the chord, most specific context first. A letter with Shift that has no action counts as
    /// the letter.
    std::vector<Action> find(KeyChord chord) const;
    struct Conflict {
        Action first, second;
        KeyChord chord;
    };
    /// Two actions of one place with the same key.
    std::optional<Conflict> conflict() const;
    bool operator==(const KeyBindings&) const = default;

private:
    std::array<std::vector<KeyChord>, kActions> keys_;
};

/// "R", "← or ,": all keys of the action; empty: it has none.
std::string keys_text(const KeyBindings& bindings, Action action);
/// Text of a tooltip followed by its keys: "Snapshot (S)".
std::string with_key(const std::string& text, const KeyBindings& bindings, Action action);
/// Lines of [keys] that differ from the defaults, with the heading; empty: none.
std::string keys_toml(const KeyBindings& bindings);

/// File with the user's keys, $XDG_CONFIG_HOME/specklescope/keys.toml, which every window reads; "": the
/// folder is unknown.
std::string keys_path();
/// Reads [keys] from the file if it exists, and refuses other contents. Throws UsageError with the line.
/// `remarks`: default keys that it gives to other actions.
void load_keys(const std::string& path, KeyBindings& bindings, std::vector<std::string>& remarks);

} // namespace specklescope
