// Finds the exhausted system resource when a library only reports that it failed.
#pragma once

#include <string>

namespace specklescope {

/// Probes threads, files and memory: "the system gives no more threads" for the first one refused, empty if
/// all are available.
std::string what_lacks();

/// Ending of an error message about an installed component that did not start.
std::string did_not_start();

} // namespace specklescope
