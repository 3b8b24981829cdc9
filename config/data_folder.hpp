// What was installed beside the program, found from where the program is: an installation can be moved.
#pragma once

#include <string>

namespace specklescope {

/// The share folder of the installation that this program belongs to; "" for one that was not installed.
std::string data_folder();

/// "$XDG_CONFIG_HOME/specklescope", by default "~/.config/specklescope"; "" without a home.
std::string user_folder();

} // namespace specklescope
