#include "config/keys/bindings.hpp"

#include "base/error.hpp"
#include "config/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace specklescope {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

bool is_letter(const std::string& key) {
    return key.size() == 1 && std::isalpha(static_cast<unsigned char>(key[0])) != 0;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0)
            words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

[[noreturn]] void refuse(std::string_view text) {
    throw UsageError("'" + one_line(text) + "' is not a key; allowed: a character as it is typed, or " +
                     join(key_names()) + ", with Ctrl+, Alt+ or Shift+ before it.");
}

} // namespace

const std::vector<std::string>& key_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = {"Space",  "Enter",  "Escape",    "Tab", "Left",   "Right",
                                        "Up",     "Down",   "Home",      "End", "PageUp", "PageDown",
                                        "Insert", "Delete", "Backspace", "Alt"};
        for (int i = 1; i <= 12; ++i)
            all.push_back("F" + std::to_string(i));
        return all;
    }();
    return names;
}

KeyChord parse_chord(std::string_view text) {
    KeyChord chord;
    std::string_view rest = text;
    for (std::size_t plus = rest.find('+'); plus != std::string_view::npos && plus + 1 < rest.size();
         plus = rest.find('+')) {
        const std::string held = lower(rest.substr(0, plus));
        bool* const what = held == "ctrl"    ? &chord.ctrl
                           : held == "alt"   ? &chord.alt
                           : held == "shift" ? &chord.shift
                                             : nullptr;
        if (!what || *what)
            refuse(text);
        *what = true;
        rest.remove_prefix(plus + 1);
    }
    const std::string key = lower(rest);
    const auto& names = key_names();
    const auto named =
        std::find_if(names.begin(), names.end(), [&](const std::string& name) { return lower(name) == key; });
    if (named != names.end()) {
        chord.key = *named;
        return chord;
    }
    if (columns(rest) != 1 || static_cast<unsigned char>(rest[0]) <= ' ')
        refuse(text);
    chord.key = std::string(rest);
    if (is_letter(chord.key))
        chord.key[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(chord.key[0])));
    else if (chord.shift && !chord.ctrl && !chord.alt)
        throw UsageError("'" + one_line(text) +
                         "': write a shifted character as it is typed, for example ? instead of Shift+/.");
    return chord;
}

std::string to_string(const KeyChord& chord) {
    return std::string(chord.ctrl ? "Ctrl+" : "") + (chord.alt ? "Alt+" : "") +
           (chord.shift ? "Shift+" : "") + chord.key;
}

std::string shown(const KeyChord& chord) {
    static const std::map<std::string, std::string> kSigns = {
        {"Left", "←"},     {"Right", "→"},    {"Up", "↑"}, {"Down", "↓"},
        {"Escape", "Esc"}, {"Delete", "Del"}, {"-", "−"}};
    const auto sign = kSigns.find(chord.key);
    return std::string(chord.ctrl ? "Ctrl " : "") + (chord.alt ? "Alt " : "") +
           (chord.shift ? "Shift " : "") + (sign == kSigns.end() ? chord.key : sign->second);
}

KeyBindings::KeyBindings() {
    for (const ActionInfo& row : actions())
        for (const std::string& word : words_of(row.keys))
            keys_[static_cast<std::size_t>(row.action)].push_back(parse_chord(word));
}

void KeyBindings::set(Action action, std::vector<KeyChord> keys) {
    keys_[static_cast<std::size_t>(action)] = std::move(keys);
}

std::vector<Action> KeyBindings::find(KeyChord chord) const {
    std::vector<Action> found;
    for (const KeyPlace place :
         {KeyPlace::drawing, KeyPlace::chosen_interval, KeyPlace::selected_region, KeyPlace::anywhere})
        for (const ActionInfo& row : actions())
            if (const auto& keys = this->keys(row.action);
                row.place == place && std::find(keys.begin(), keys.end(), chord) != keys.end())
                found.push_back(row.action);
    if (found.empty() && chord.shift && !chord.ctrl && !chord.alt && is_letter(chord.key)) {
        chord.shift = false;
        return find(chord);
    }
    return found;
}

std::optional<KeyBindings::Conflict> KeyBindings::conflict() const {
    for (const ActionInfo& row : actions())
        for (const KeyChord& chord : keys(row.action))
            for (const Action other : find(chord))
                if (other != row.action && info(other).place == row.place)
                    return Conflict{row.action, other, chord};
    return std::nullopt;
}

std::string keys_text(const KeyBindings& bindings, Action action) {
    std::string text;
    for (const KeyChord& chord : bindings.keys(action))
        text += (text.empty() ? "" : " or ") + shown(chord);
    return text;
}

std::string with_key(const std::string& text, const KeyBindings& bindings, Action action) {
    const std::string keys = keys_text(bindings, action);
    return keys.empty() ? text : text + " (" + keys + ")";
}

} // namespace specklescope
