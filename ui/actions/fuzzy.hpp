// How well typed letters fit a name: for the command palette.
#pragma once

#include <optional>
#include <string_view>

namespace specklescope {

/// The words of `typed` each fit `text` if their letters come in it in this order, in upper or lower case;
/// nothing if one does not. Higher is better. Of one word over all ways to find its letters, the best sum of:
/// 1 for each, 4 more at the beginning of a word of the text, 3 more right behind the letter before, and 1
/// less for each letter left out within a word's way.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view text);

} // namespace specklescope
