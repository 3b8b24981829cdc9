// [keys] of a settings file, read from TOML that is parsed already.
#pragma once

#include "config/keys/bindings.hpp"

#include <functional>
#include <toml++/toml.h>

namespace specklescope {

/// A key that the table gives to another action is taken from the action that had it, with a remark. Two
/// actions of the table with one key are an error: `fail` throws with file and line. All or nothing.
void read_keys(const toml::table& table, KeyBindings& bindings, std::vector<std::string>& remarks,
               const std::function<void(const toml::source_region&, const std::string&)>& fail);

} // namespace specklescope
