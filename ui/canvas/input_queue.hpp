// Keys, characters and mouse buttons in the order of arrival. Dear ImGui 1.86 sees states, not events: it
// misses a key that goes down and up between two frames, and it places a click where the mouse is when the
// frame begins. So each frame gets only as many events as it can tell apart; the others wait for the next
// frame.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

struct ImGuiIO;

namespace specklescope {

struct KeyPress {
    int key = 0;            ///< GLFW_KEY_…; 0 for a character
    unsigned character = 0; ///< Unicode, in the user's keyboard layout
    int modifiers = 0;      ///< GLFW_MOD_…
};

class InputQueue {
public:
    /// Arguments as GLFW reports them; `action` is GLFW_PRESS, GLFW_REPEAT or GLFW_RELEASE.
    void key(int key, int action, int modifiers);
    void character(unsigned character);
    /// (x, y): mouse position in window coordinates. `seconds`: time of the event, on any clock.
    void button(int button, bool down, float x, float y, double seconds);
    void focus_changed() { alone_ = false; }
    bool empty() const { return events_.empty(); }

    /// Call after the platform's new frame and before Dear ImGui's.
    void feed(ImGuiIO& io);
    /// Queues the last keys from take_keys() again: they followed a shortcut that has opened a field and
    /// belong to this field.
    void put_back(const std::vector<KeyPress>& keys, ImGuiIO& io);
    /// Holds the queue until the field that opens has the keyboard, at most a few frames.
    void wait_for_field() { waits_ = kPatience; }

    /// Keys and characters fed since the last call, for the program's shortcuts.
    std::vector<KeyPress> take_keys();

private:
    static constexpr int kButtons = 5;  ///< number of buttons in Dear ImGui
    static constexpr int kPatience = 8; ///< in frames
    static constexpr int kMove = 2;     ///< frames that Tab and Enter take to move to the next field
    enum class Kind : std::uint8_t { key, character, button };
    struct Event {
        Kind kind = Kind::key;
        int code = 0, action = 0, modifiers = 0;
        unsigned character = 0;
        float x = 0, y = 0;
        double seconds = 0;
    };
    /// Events that the current frame has received.
    struct Given {
        std::vector<int> keys;
        bool command = false; ///< a key with an effect of its own: Enter, Backspace, Ctrl+A
        bool button = false;
    };
    bool feed_key(const Event& event, ImGuiIO& io, Given& given);
    bool feed_character(const Event& event, ImGuiIO& io, const Given& given);
    bool feed_button(const Event& event, ImGuiIO& io, Given& given);

    std::deque<Event> events_;
    std::vector<KeyPress> fed_;
    int waits_ = 0;      ///< frames left to wait for a field
    int moves_ = 0;      ///< frames left until the keyboard has moved to another field
    bool alone_ = false; ///< Alt was pressed, and nothing since
    bool down_[kButtons] = {};
    double pressed_[kButtons] = {-1e9, -1e9, -1e9, -1e9, -1e9}; ///< time of the last press
};

} // namespace specklescope
