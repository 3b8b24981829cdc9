#include "config/data_folder.hpp"

#include <cstdlib>
#include <filesystem>

namespace specklescope {

namespace fs = std::filesystem;

std::string data_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error)
        return "";
    const fs::path share = (program.parent_path() / SPECKLESCOPE_DATA_FROM_PROGRAM).lexically_normal();
    return fs::is_directory(share / "specklescope", error) ? share.string() : "";
}

std::string user_folder() {
    const char* config = std::getenv("XDG_CONFIG_HOME"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    const char* home = std::getenv("HOME");              // NOLINT(concurrency-mt-unsafe)
    if (config && *config)
        return std::string(config) + "/specklescope";
    return home && *home ? std::string(home) + "/.config/specklescope" : "";
}

} // namespace specklescope
