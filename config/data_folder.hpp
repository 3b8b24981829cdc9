// Installed data, found relative to the program: an installation can be moved.
#pragma once

#include <string>

namespace specklescope {

/// Share folder of the program's installation; "" for a program that was not installed.
std::string data_folder();

/// Library and GStreamer element: full path of the files installed with this program; in a build the path
/// next to it, "library/libspecklescope.so.0.1"; "" if missing.
std::string library_file();
std::string element_file();

/// "$XDG_CONFIG_HOME/specklescope", by default "~/.config/specklescope"; "" without a home.
std::string user_folder();

} // namespace specklescope
