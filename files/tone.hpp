// An audible alarm.
#pragma once

#include <string>

namespace specklescope {

/// Plays a tone of a third of a second on the default sound device, and returns after it. Empty, or why there
/// is no tone.
std::string play_tone();

} // namespace specklescope
