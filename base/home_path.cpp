#include "base/home_path.hpp"

#include <cstdlib>

namespace specklescope {

std::string home_expanded(std::string_view path) {
    const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe): never set by this process
    if (!home || !*home || !(path == "~" || path.starts_with("~/")))
        return std::string(path);
    return home + std::string(path.substr(1));
}

} // namespace specklescope
