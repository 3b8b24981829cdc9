// Version and build of the program, for --version and the About box.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// Commit of the sources. main() sets it, so that a new commit compiles only one small file.
void set_build_commit(std::string commit);

/// Name and value: version, commit, build, CUDA backend, compiler, libraries, location of its data.
std::vector<std::pair<std::string, std::string>> version_rows();
/// The same as text of kHelpWidth columns.
std::string version_text();

} // namespace specklescope
