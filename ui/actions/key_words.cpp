#define GLFW_INCLUDE_NONE
#include "ui/actions/key_words.hpp"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace specklescope {

std::string key_of(const KeyBindings& keys, Action action, bool selected_region) {
    const auto& all = keys.keys(action);
    const auto at = std::find_if(all.begin(), all.end(), [&](const KeyChord& chord) {
        const std::vector<Action> means = keys.find(chord);
        return info(action).place == KeyPlace::drawing || !selected_region ||
               std::none_of(means.begin(), means.end(),
                            [](Action other) { return info(other).place == KeyPlace::selected_region; });
    });
    return at == all.end() ? "" : shown(*at);
}

std::string key_words(const std::string& before, const std::string& key, const std::string& after) {
    return key.empty() ? "" : before + key + after;
}

namespace {

constexpr std::array<std::pair<int, const char*>, 17> kNamed = {{{GLFW_KEY_SPACE, "Space"},
                                                                 {GLFW_KEY_ENTER, "Enter"},
                                                                 {GLFW_KEY_KP_ENTER, "Enter"},
                                                                 {GLFW_KEY_ESCAPE, "Escape"},
                                                                 {GLFW_KEY_TAB, "Tab"},
                                                                 {GLFW_KEY_LEFT, "Left"},
                                                                 {GLFW_KEY_RIGHT, "Right"},
                                                                 {GLFW_KEY_UP, "Up"},
                                                                 {GLFW_KEY_DOWN, "Down"},
                                                                 {GLFW_KEY_HOME, "Home"},
                                                                 {GLFW_KEY_END, "End"},
                                                                 {GLFW_KEY_PAGE_UP, "PageUp"},
                                                                 {GLFW_KEY_PAGE_DOWN, "PageDown"},
                                                                 {GLFW_KEY_INSERT, "Insert"},
                                                                 {GLFW_KEY_DELETE, "Delete"},
                                                                 {GLFW_KEY_BACKSPACE, "Backspace"},
                                                                 {GLFW_KEY_MENU, "Alt"}}};

std::string name_of(int key) {
    for (const auto& [code, name] : kNamed)
        if (code == key)
            return name;
    return key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12 ? "F" + std::to_string(key - GLFW_KEY_F1 + 1) : "";
}

/// Character of the key in the user's layout. Digit keys return their digit, since some layouts need Shift
/// for it.
std::string letter_of(int key) {
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9)
        return {static_cast<char>('0' + key - GLFW_KEY_0)};
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9)
        return {static_cast<char>('0' + key - GLFW_KEY_KP_0)};
    const char* name = glfwGetKeyName(key, 0);
    std::string letter = name ? name : "";
    if (letter.size() == 1)
        letter[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(letter[0])));
    return letter;
}

std::string utf8(unsigned c) {
    const auto byte = [](unsigned value) { return static_cast<char>(value); };
    if (c < 0x80)
        return {byte(c)};
    if (c < 0x800)
        return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
    if (c < 0x10000)
        return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
    return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)),
            byte(0x80 | (c & 0x3F))};
}

} // namespace

std::optional<KeyChord> chord_of(const KeyPress& press) {
    KeyChord chord;
    if (press.key == 0) { // a character includes Shift already, except for letters
        if (press.character <= ' ')
            return std::nullopt;
        chord.key = utf8(press.character);
        if (chord.key.size() == 1 && std::isalpha(static_cast<unsigned char>(chord.key[0])) != 0) {
            const auto letter = static_cast<unsigned char>(chord.key[0]);
            chord.shift = std::isupper(letter) != 0;
            chord.key[0] = static_cast<char>(std::toupper(letter));
        }
        return chord;
    }
    chord.ctrl = (press.modifiers & GLFW_MOD_CONTROL) != 0;
    chord.alt = (press.modifiers & GLFW_MOD_ALT) != 0;
    chord.shift = (press.modifiers & GLFW_MOD_SHIFT) != 0;
    chord.key = name_of(press.key);
    if (chord.key.empty() && (chord.ctrl || chord.alt))
        chord.key = letter_of(press.key);
    return chord.key.empty() ? std::nullopt : std::optional(chord);
}

} // namespace specklescope
