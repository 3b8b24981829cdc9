// Sources that a stranger names, in a settings file or a request.
#pragma once

#include "base/source_argument.hpp"

#include <string>

namespace specklescope {

/// Reason not to open such a source without --trust, as the end of a sentence: "is gst-launch text, which
/// may do anything". Empty: it may be opened.
std::string why_not_from_strangers(const SourceArgument& source);

} // namespace specklescope
