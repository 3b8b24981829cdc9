// A chain from one text, as to_string(Chain) writes it.
#pragma once

#include "pipeline/chain.hpp"

#include <string_view>

namespace specklescope {

/// "background:black=64 | speckle:radius=3"; "" and "none": an empty chain. A value in double quotes may hold
/// '|'. Throws UsageError.
Chain chain_from_text(std::string_view text);

} // namespace specklescope
