// Parser for "key=value,key=value", the one-line form of stages and settings.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace specklescope {

/// Calls `take` for each pair, in order. A value in double quotes may contain commas; \" and \\ stand for "
/// and \. Throws UsageError, starting with `owner`, for malformed text and for duplicate keys.
void for_key_values(std::string_view text, const std::string& owner,
                    const std::function<void(std::string_view key, const std::string& value)>& take);

} // namespace specklescope
