// Paths under the home folder.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// Expands a leading "~" or "~/", also in quotes or after a kind, where the shell does not.
std::string home_expanded(std::string_view path);

} // namespace specklescope
