// Keys, characters and mouse buttons in the order in which they came. Dear ImGui 1.86 sees states, not
// events: a key that is down and up again between two frames does not exist for it, and a click counts where
// the mouse is when the frame begins. So each frame is given as much as it can tell apart, and the rest waits
// for the next one.
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
    /// As GLFW reports them; `action` is GLFW_PRESS, GLFW_REPEAT or GLFW_RELEASE.
    void key(int key, int action, int modifiers);
    void character(unsigned character);
    /// (x, y): where the mouse was, window coordinates. `seconds`: when, on any clock.
    void button(int button, bool down, float x, float y, double seconds);
    void focus_changed() { alone_ = false; }
    bool empty() const { return events_.empty(); }

    /// After the platform's new frame and before Dear ImGui's.
    void feed(ImGuiIO& io);
    /// The last of the keys that take_keys() gave, to be fed again: they come after a shortcut that has
    /// opened a field, and are meant for it.
    void put_back(const std::vector<KeyPress>& keys, ImGuiIO& io);
    /// A field will take the keyboard within a few frames: nothing is fed until it has it.
    void wait_for_field() { waits_ = kPatience; }

    /// Keys and characters that were fed since the last call: the program's shortcuts.
    std::vector<KeyPress> take_keys();

private:
    static constexpr int kButtons = 5;  ///< as many as Dear ImGui knows
    static constexpr int kPatience = 8; ///< frames
    enum class Kind : std::uint8_t { key, character, button };
    struct Event {
        Kind kind = Kind::key;
        int code = 0, action = 0, modifiers = 0;
        unsigned character = 0;
        float x = 0, y = 0;
        double seconds = 0;
    };
    /// What this frame has been given already.
    struct Given {
        std::vector<int> keys;
        bool command = false; ///< a key that acts by itself: Enter, Backspace, Ctrl+A
        bool button = false;
    };
    bool feed_key(const Event& event, ImGuiIO& io, Given& given);
    bool feed_character(const Event& event, ImGuiIO& io, const Given& given);
    bool feed_button(const Event& event, ImGuiIO& io, Given& given);

    std::deque<Event> events_;
    std::vector<KeyPress> fed_;
    int waits_ = 0;      ///< frames, for a field
    bool alone_ = false; ///< Alt was pressed, and nothing since
    bool down_[kButtons] = {};
    double pressed_[kButtons] = {-1e9, -1e9, -1e9, -1e9, -1e9}; ///< when
};

} // namespace specklescope
