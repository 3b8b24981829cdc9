// A chain from one text, as to_string(Chain) writes it.
#pragma once

#include "pipeline/chain.hpp"

#include <string_view>
#include <vector>

namespace specklescope {

/// The texts of the stages of "background:black=64 | speckle:radius=3"; "" and "none": no stage. A value in
/// double quotes may hold '|'. Throws UsageError where nothing stands between two '|' or at an end.
std::vector<std::string_view> stage_texts(std::string_view text);
/// The chain of them. Throws UsageError.
Chain chain_from_text(std::string_view text);

} // namespace specklescope
