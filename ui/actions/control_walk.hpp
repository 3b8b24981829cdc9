// Keyboard access to the controls. F6 moves from the picture to the tool bar, then to the panel and so on.
// Arrows move between controls; on a slider Left and Right change the value (Shift: ten steps). Space
// activates a control, Enter edits its value, Escape returns to the picture. Letters stay commands of the
// window. Dialogs work in the same way.
#pragma once

#include "config/keys/bindings.hpp"

namespace specklescope {

class ControlWalk {
public:
    /// Call before Dear ImGui's frame begins. `dialog`: a dialog is open and takes the keys.
    void begin_frame(bool dialog);
    /// Moves to the next part of the window that has controls; after the last part, back to the picture.
    void next();
    bool on() const { return part_ >= 0; }
    /// True if the key moves through controls and is not a command. Escape ends the walk.
    bool takes(const KeyChord& chord);

private:
    void leave();

    int part_ = -1;
};

/// Shows the item that has the keyboard focus in a list that a key has opened; Space activates it.
void show_focus();
/// Draws a ring around the previous item, which draws itself, if it has the keyboard focus. `inside`: within
/// its edges, for an item that fills its container.
void focus_ring(bool inside = false);
/// True if the previous item has the keyboard focus and Enter was pressed.
bool entered();
/// Steps by Left and Right on the previous item if it has the keyboard focus: −1 or 1, with Shift ten. The
/// arrows then do not leave the item.
int stepped();

} // namespace specklescope
