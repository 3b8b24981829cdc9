#include "ui/canvas/input_queue.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace specklescope {

namespace {

constexpr float kDoubleClick = 0.3F; ///< in s

bool modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }
/// True if a character event follows: not with a modifier that makes it a command.
bool printable(int key, int modifiers) {
    return key >= GLFW_KEY_SPACE && key < GLFW_KEY_ESCAPE &&
           (modifiers & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) == 0;
}

/// True for Space during keyboard access to controls: a press and release in one frame would be lost.
bool presses(int key, const ImGuiIO& io) {
    return key == GLFW_KEY_SPACE && (io.ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) != 0 &&
           !io.WantTextInput;
}

} // namespace

void InputQueue::key(int key, int action, int modifiers) {
    const bool alt = key == GLFW_KEY_LEFT_ALT;
    if (alt && action == GLFW_RELEASE && alone_)
        for (const int each : {GLFW_PRESS, GLFW_RELEASE}) // as the menu key
            events_.push_back({.kind = Kind::key, .code = GLFW_KEY_MENU, .action = each});
    alone_ = alt && action == GLFW_PRESS;
    const auto same = [&](const Event& e) {
        return e.kind == Kind::key && e.code == key && e.action == GLFW_REPEAT;
    };
    if (action == GLFW_REPEAT && std::any_of(events_.begin(), events_.end(), same))
        return; // avoids repeats after the key is released
    events_.push_back({.kind = Kind::key, .code = key, .action = action, .modifiers = modifiers});
}

void InputQueue::character(unsigned character) {
    events_.push_back({.kind = Kind::character, .character = character});
}

void InputQueue::button(int button, bool down, float x, float y, double seconds) {
    alone_ = false;
    if (button >= 0 && button < kButtons)
        events_.push_back({.kind = Kind::button,
                           .code = button,
                           .action = down ? GLFW_PRESS : GLFW_RELEASE,
                           .x = x,
                           .y = y,
                           .seconds = seconds});
}

void InputQueue::feed(ImGuiIO& io) {
    Given given;
    if (waits_ > 0)
        waits_ = io.WantTextInput ? 0 : waits_ - 1;
    if (waits_ > 0)
        return;
    const bool moves = moves_ > 0;
    moves_ = std::max(0, moves_ - 1);
    while (!events_.empty()) {
        const Event& event = events_.front();
        if (moves && (event.kind != Kind::key || event.action != GLFW_RELEASE)) // a held Tab would repeat
            break;
        const bool fits = event.kind == Kind::key         ? feed_key(event, io, given)
                          : event.kind == Kind::character ? feed_character(event, io, given)
                                                          : feed_button(event, io, given);
        if (!fits)
            break;
        events_.pop_front();
    }
    std::copy(std::begin(down_), std::end(down_), io.MouseDown);
}

bool InputQueue::feed_key(const Event& event, ImGuiIO& io, Given& given) {
    const bool command =
        event.action != GLFW_RELEASE && !modifier(event.code) && !printable(event.code, event.modifiers);
    const bool again = std::find(given.keys.begin(), given.keys.end(), event.code) != given.keys.end();
    if (given.button || again || (given.command && (event.action != GLFW_RELEASE || modifier(event.code))))
        return false; // a click may move the focus; a command needs its modifiers, and may change the meaning
                      // of the next key
    if (event.code >= 0 && event.code < IM_ARRAYSIZE(io.KeysDown)) {
        io.KeysDown[event.code] = event.action != GLFW_RELEASE;
        if (!printable(event.code, event.modifiers) || presses(event.code, io))
            given.keys.push_back(event.code);
    }
    given.command = given.command || command;
    if (command && io.WantTextInput && (event.code == GLFW_KEY_TAB || event.code == GLFW_KEY_ENTER))
        moves_ = kMove;
    const auto held = [&](int left, int right) { return io.KeysDown[left] || io.KeysDown[right]; };
    io.KeyCtrl = held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
    io.KeyShift = held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
    io.KeyAlt = held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
    io.KeySuper = held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
    if (event.action != GLFW_RELEASE)
        fed_.push_back({event.code, 0, event.modifiers});
    return true;
}

bool InputQueue::feed_character(const Event& event, ImGuiIO& io, const Given& given) {
    if (given.button || given.command)
        return false;
    io.AddInputCharacter(event.character);
    fed_.push_back({0, event.character, 0});
    return true;
}

bool InputQueue::feed_button(const Event& event, ImGuiIO& io, Given& given) {
    if (given.button || given.command)
        return false;
    const auto index = static_cast<std::size_t>(event.code);
    down_[index] = event.action == GLFW_PRESS;
    if (down_[index]) { // by the time of the events, not of the frames
        io.MouseDoubleClickTime = event.seconds - pressed_[index] < kDoubleClick ? 1e6F : 0.0F;
        pressed_[index] = event.seconds;
    }
    io.MousePos = ImVec2(event.x, event.y);
    given.button = true;
    return true;
}

void InputQueue::put_back(const std::vector<KeyPress>& keys, ImGuiIO& io) {
    io.ClearInputCharacters();
    const std::vector<KeyPress> last_first(keys.rbegin(), keys.rend());
    for (const KeyPress& key : last_first) {
        if (key.character != 0) {
            events_.push_front({.kind = Kind::character, .character = key.character});
        } else if (!printable(key.key, key.modifiers) && key.key >= 0 &&
                   key.key < IM_ARRAYSIZE(io.KeysDown)) { // letters arrive as characters
            io.KeysDown[key.key] = false;
            events_.push_front(
                {.kind = Kind::key, .code = key.key, .action = GLFW_PRESS, .modifiers = key.modifiers});
        }
    }
}

std::vector<KeyPress> InputQueue::take_keys() { return std::exchange(fed_, {}); }

} // namespace specklescope
