// Icon of the window, from the installed files.
#pragma once

struct GLFWwindow;

namespace specklescope {

/// Sets the available icon sizes and returns their number; 0 for a program that was not installed.
int set_window_icon(GLFWwindow* window);

} // namespace specklescope
