#include "config/strange_source.hpp"

namespace specklescope {

std::string why_not_from_strangers(const SourceArgument& source) {
    if (source.revealed().starts_with("gst:"))
        return "is gst-launch text, which may do anything";
    return source.references().empty() ? "" : "sends variables of the environment";
}

} // namespace specklescope
