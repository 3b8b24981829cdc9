// Walking through the controls without a mouse: F6 goes to the tool bar, the next F6 to the panel, and so on;
// arrows go from control to control, on a slider
// Left and Right change it (Shift: ten steps), Space presses, Enter types, Escape goes back to the picture.
// Letters stay commands of the window. Dialogs are walked through in the same way.
#pragma once

#include "config/keys/bindings.hpp"

namespace specklescope {

class ControlWalk {
public:
    /// Before Dear ImGui's frame begins: `dialog`: one is open, which takes the keys.
    void begin_frame(bool dialog);
    /// To the next part of the window that has controls; behind the last one back to the picture.
    void next();
    bool on() const { return part_ >= 0; }
    /// The key goes through controls now, and is no command. Escape ends the walk.
    bool takes(const KeyChord& chord);

private:
    void leave();

    int part_ = -1;
};

/// Around the item before, which draws itself, where the keyboard has reached it; or just `inside` its edges,
/// for one that fills what it stands in.
void focus_ring(bool inside = false);
/// The keyboard has reached the item before, and Enter was pressed on it.
bool entered();
/// Steps that Left and Right make on the item before where the keyboard has reached it: −1 or 1, with Shift
/// ten. The arrows do not go on to another item from there.
int stepped();

} // namespace specklescope
