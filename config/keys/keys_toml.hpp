// [keys] of a settings file, read from TOML that is parsed already.
#pragma once

#include "config/keys/bindings.hpp"

#include <functional>
#include <toml++/toml.h>

namespace specklescope {

/// `fail` throws with file and line. All or nothing.
void read_keys(const toml::table& table, KeyBindings& bindings,
               const std::function<void(const toml::source_region&, const std::string&)>& fail);

} // namespace specklescope
