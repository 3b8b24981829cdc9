// What this program is and how it was built: the text of --version and the rows of the About box are the
// same.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// The commit that the sources came from. main() says it, so that a new commit compiles one small file only.
void set_build_commit(std::string commit);

/// Name and value: version, commit, build, CUDA backend, compiler, libraries, where its data were found.
std::vector<std::pair<std::string, std::string>> version_rows();
/// The same as text of kHelpWidth columns.
std::string version_text();

} // namespace specklescope
