// Text of an exception for the user.
#pragma once

#include <exception>
#include <string>

namespace specklescope {

/// Message of an Error; for exceptions of the system or a library, a message that includes what to do.
std::string sentence_of(const std::exception& error);

} // namespace specklescope
