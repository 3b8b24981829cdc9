// JSON out of files that a stranger may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace specklescope {

/// The first JSON object in a text, whatever follows it. Null if there is none, it is cut short or damaged,
/// or lists and objects lie more than kMaxJsonDepth deep in each other: copies and comparisons of deeper ones
/// would use up the stack.
nlohmann::json json_object_in(std::string_view text);
inline constexpr int kMaxJsonDepth = 16;

} // namespace specklescope
