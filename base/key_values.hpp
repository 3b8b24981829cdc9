// "key=value,key=value", as stages and settings are written in one line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace specklescope {

/// Calls `take` for each pair, in order. A value in double quotes may hold commas; \" and \\ stand for " and
/// \. Throws UsageError, beginning with `owner`, for what is not of this form and for a key that is given
/// twice.
void for_key_values(std::string_view text, const std::string& owner,
                    const std::function<void(std::string_view key, const std::string& value)>& take);

} // namespace specklescope
