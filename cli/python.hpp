#pragma once

#include <string>

namespace specklescope {

/// True for a subcommand that is Python: batch, convert.
bool is_python(const std::string& command);

/// Replaces this process by Python's specklescope.COMMAND, with this program for the recordings. Throws
/// RunError without Python.
[[noreturn]] void run_python(const std::string& command, char** words);

} // namespace specklescope
