// Where things are on the screen, for the screenshot test: with SPECKLESCOPE_UI_PROBE=FILE in the environment
// a JSON file is written a few times a second with the rectangle of every named control and what the window
// shows. Without it every call here is a test of one flag.
#pragma once

#include "ui/canvas/view.hpp"

#include <string>

namespace specklescope::probe {

bool enabled();
/// A control's rectangle in window coordinates.
void widget(const std::string& name, double x, double y, double width, double height);
/// The last ImGui item, a control.
void item(const std::string& name);
/// The last ImGui item has a tooltip. Controls without one are listed in the file.
void explained();
void value(const std::string& name, double number);
void value(const std::string& name, const std::string& text);
/// At the end of a drawn frame: writes the file if it is time, and forgets what was collected.
void end_frame();

} // namespace specklescope::probe
