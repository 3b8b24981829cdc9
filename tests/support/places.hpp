// Where the program under test and the repository are. Only places.cpp knows, so that a build elsewhere
// compiles nothing anew.
#pragma once

#include <string>

namespace specklescope::test {

std::string program_path();
/// Root of the repository.
std::string source_folder();
/// Path of a file in tests/data: the real images that the tests measure.
inline std::string test_data(const std::string& name) { return source_folder() + "/tests/data/" + name; }

} // namespace specklescope::test
