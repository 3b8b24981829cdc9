#include "base/known_secrets.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace specklescope {

namespace {

struct Known {
    std::mutex mutex;
    std::vector<SourceArgument> sources; ///< only a few
};

/// Never destroyed: threads of libraries (GStreamer's RTSP server) still log after main().
Known& known() {
    static Known& all = *new Known; // NOLINT: never destroyed
    return all;
}

} // namespace

void remember_secrets(const SourceArgument& source) {
    if (!source.holds_secret())
        return;
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    if (std::find(all.sources.begin(), all.sources.end(), source) == all.sources.end())
        all.sources.push_back(source);
}

std::string without_secrets(std::string_view text) {
    std::string out(text);
    {
        Known& all = known();
        const std::scoped_lock lock(all.mutex);
        for (const SourceArgument& source : all.sources)
            out = source.hide(out);
    }
    return SourceArgument(std::move(out)).shown();
}

} // namespace specklescope
