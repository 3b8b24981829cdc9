// Secrets in use, so that log messages of libraries can be redacted.
#pragma once

#include "base/source_argument.hpp"

#include <string>
#include <string_view>

namespace specklescope {

/// Remembers the secrets of `source` for the lifetime of the process. Any thread.
void remember_secrets(const SourceArgument& source);
/// `text` of a library, such as GLib's log, with "***" in place of every remembered secret and of every
/// password or token in an address. Any thread.
std::string without_secrets(std::string_view text);

} // namespace specklescope
