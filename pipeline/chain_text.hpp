// Parses a chain from one text, as written by to_string(Chain).
#pragma once

#include "pipeline/chain.hpp"

#include <string_view>
#include <vector>

namespace specklescope {

/// Texts of the stages of "background:black=64 | speckle:radius=3"; "" and "none": no stage. A value in
/// double quotes may contain '|'. Throws UsageError for an empty stage.
std::vector<std::string_view> stage_texts(std::string_view text);
/// Parses the whole chain. Throws UsageError.
Chain chain_from_text(std::string_view text);

} // namespace specklescope
