// Secrets that are in use, so that whoever passes on what a library says on its own can hide them.
#pragma once

#include "base/source_argument.hpp"

#include <string>
#include <string_view>

namespace specklescope {

/// The secrets of `source` are known from now on, as long as the process lives. From any thread.
void remember_secrets(const SourceArgument& source);
/// `text` of somebody who knows no source, as GLib's log: "***" in place of every secret that is known, and
/// of what stands where an address has its secrets. From any thread.
std::string without_secrets(std::string_view text);

} // namespace specklescope
