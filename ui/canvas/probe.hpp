// Reports the layout of the screen to the window tests. With SPECKLESCOPE_UI_PROBE=FILE in the environment,
// a JSON file is written a few times a second. It contains the rectangle of every named control and the
// displayed values. Without the variable every call here only tests a flag.
#pragma once

#include "ui/canvas/view.hpp"

#include <string>

namespace specklescope::probe {

bool enabled();
/// Reports the rectangle of a control in window coordinates.
void widget(const std::string& name, double x, double y, double width, double height);
/// Reports the last ImGui item, a control.
void item(const std::string& name);
/// Reports that the last ImGui item has a tooltip. Controls without one are listed in the file.
void explained();
void value(const std::string& name, double number);
void value(const std::string& name, const std::string& text);
/// Call at the end of a drawn frame: writes the file if it is due, and clears the collected values.
void end_frame();

} // namespace specklescope::probe
