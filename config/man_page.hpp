// specklescope(1) for groff, from the declarations.
#pragma once

#include <string>

namespace specklescope {

std::string man_page();

} // namespace specklescope
