// What was open lately, with what is known of it now, and the simulated scenes.
#pragma once

#include "session/session.hpp"

#include <string>
#include <vector>

namespace specklescope {

struct RecentSource {
    SourceArgument source;
    std::string note; ///< beside it: "simulated"
};
std::vector<RecentSource> recent_sources(const Session& session);

} // namespace specklescope
