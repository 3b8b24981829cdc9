// Which keys the actions of the window have: by default, and after a [keys] table.
#pragma once

#include "config/keys/actions.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// A key with what is held beside it. Characters are those of the user's layout: "[" is that character,
/// wherever its key is.
struct KeyChord {
    bool ctrl = false, alt = false, shift = false;
    std::string key; ///< "Left", "F1", or one character; letters upper case
    bool operator==(const KeyChord&) const = default;
};
/// "Ctrl+Shift+O", "Space", "m", "["; names and letters in upper or lower case. Throws UsageError.
KeyChord parse_chord(std::string_view text);
std::string to_string(const KeyChord& chord); ///< parse_chord() reads it
/// For people: "Ctrl O", "←".
std::string shown(const KeyChord& chord);
/// The keys that have a name: "Left", …
const std::vector<std::string>& key_names();

class KeyBindings {
public:
    KeyBindings(); ///< by default
    const std::vector<KeyChord>& keys(Action action) const { return keys_[static_cast<std::size_t>(action)]; }
    /// In the place of those that it has; none: no key.
    void set(Action action, std::vector<KeyChord> keys);
    /// What the chord means, most particular place first. A letter with Shift that means nothing is the
    /// letter.
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
/// The text of a tooltip with its keys behind it: "Snapshot (S)".
std::string with_key(const std::string& text, const KeyBindings& bindings, Action action);
/// The lines of [keys] for what is not as by default, with the heading; empty: nothing.
std::string keys_toml(const KeyBindings& bindings);

/// The file of the user's keys, $XDG_CONFIG_HOME/specklescope/keys.toml, which every window reads; "": no
/// folder is known.
std::string keys_path();
/// Reads [keys] from it if it is there, and refuses anything else. Throws UsageError with the line.
void load_keys(const std::string& path, KeyBindings& bindings);

} // namespace specklescope
