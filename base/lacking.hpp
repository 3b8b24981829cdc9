// What the system has no more of, where a library only reports that it failed.
#pragma once

#include <string>

namespace specklescope {

/// "the system gives no more threads", or files, or memory: the first that is refused now. Empty: none is.
std::string what_lacks();

/// The end of a sentence about something that is installed and did not start.
std::string did_not_start();

} // namespace specklescope
