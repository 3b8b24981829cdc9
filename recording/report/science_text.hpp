// docs/science.md, compiled in: the one place of definitions and sources.
#pragma once

#include <string_view>

namespace specklescope {

std::string_view science_text();

} // namespace specklescope
