// JSON from untrusted files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace specklescope {

/// First JSON object in a text, ignoring what follows. Null if there is none, it is truncated or damaged, or
/// nested more than kMaxJsonDepth levels: copies and comparisons of deeper objects would overflow the stack.
nlohmann::json json_object_in(std::string_view text);
inline constexpr int kMaxJsonDepth = 16;

} // namespace specklescope
