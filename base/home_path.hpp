// Paths under the home folder.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// "~" and "~/…" stand for the home folder, as in a shell, which does not see those in quotes or after a
/// kind.
std::string home_expanded(std::string_view path);

} // namespace specklescope
