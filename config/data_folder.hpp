// What was installed beside the program, found from where the program is: an installation can be moved.
#pragma once

#include <string>

namespace specklescope {

/// The share folder of the installation that this program belongs to; "" for one that was not installed.
std::string data_folder();

/// libspecklescope and its element of GStreamer: the whole path of what was installed with this program; in a
/// build what is next to it, as "library/libspecklescope.so.0.1"; "" where there is none.
std::string library_file();
std::string element_file();

/// "$XDG_CONFIG_HOME/specklescope", by default "~/.config/specklescope"; "" without a home.
std::string user_folder();

} // namespace specklescope
