// What a user is told of an exception, whoever threw it.
#pragma once

#include <exception>
#include <string>

namespace specklescope {

/// An Error's own sentence; for what the system or a library threw, one that says what to do.
std::string sentence_of(const std::exception& error);

} // namespace specklescope
