#include "ui/sources/recent.hpp"

#include <algorithm>

namespace specklescope {

std::vector<RecentSource> recent_sources(const Session& session) {
    std::vector<RecentSource> sources;
    for (const SourceArgument& recent : session.recent())
        sources.push_back({recent, ""});
    for (const char* scene : {"synthetic:vessels", "synthetic:uniform", "synthetic:static"}) {
        const SourceArgument source(scene);
        if (std::find(session.recent().begin(), session.recent().end(), source) == session.recent().end())
            sources.push_back({source, "simulated"});
    }
    return sources;
}

} // namespace specklescope
