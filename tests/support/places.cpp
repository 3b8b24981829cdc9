#include "tests/support/places.hpp"

namespace specklescope::test {

std::string program_path() { return SPECKLESCOPE_PROGRAM; }
std::string source_folder() { return SPECKLESCOPE_SOURCE_DIR; }

} // namespace specklescope::test
