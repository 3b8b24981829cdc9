// The icon of the window, from the files that were installed beside the program.
#pragma once

struct GLFWwindow;

namespace specklescope {

/// Gives the window the sizes that there are and returns how many; none for a program that was not installed.
int set_window_icon(GLFWwindow* window);

} // namespace specklescope
