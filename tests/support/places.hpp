// Paths of the program under test and the repository. Only places.cpp contains them, so that a build
// elsewhere recompiles nothing else.
#pragma once

#include <string>

namespace specklescope::test {

std::string program_path();
/// Root of the repository.
std::string source_folder();
/// Path of a file in tests/data: real images for measurements.
inline std::string test_data(const std::string& name) { return source_folder() + "/tests/data/" + name; }

} // namespace specklescope::test
