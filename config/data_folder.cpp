#include "config/data_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace specklescope {

namespace fs = std::filesystem;

namespace {

/// Folder of this program; empty if unknown.
fs::path program_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path();
}

/// The first that is there, seen from the program: whole, but for the last one, which is in a build.
std::string found(const std::vector<std::string>& places) {
    const fs::path folder = program_folder();
    std::error_code error;
    for (const std::string& place : places)
        if (const fs::path file = (folder / place).lexically_normal();
            !folder.empty() && fs::is_regular_file(file, error))
            return &place == &places.back() ? place : file.string();
    return "";
}

} // namespace

std::string data_folder() {
    const fs::path folder = program_folder();
    const fs::path share = (folder / SPECKLESCOPE_DATA_FROM_PROGRAM).lexically_normal();
    std::error_code error;
    return !folder.empty() && fs::is_directory(share / "specklescope", error) ? share.string() : "";
}

std::string library_file() {
    const std::string name = SPECKLESCOPE_LIBRARY_FILE;
    return found({SPECKLESCOPE_LIBRARY_FROM_PROGRAM "/" + name, "library/" + name});
}

std::string element_file() {
    const std::string name = "libgstspecklescope.so";
    return found({SPECKLESCOPE_LIBRARY_FROM_PROGRAM "/gstreamer-1.0/" + name,
                  SPECKLESCOPE_LIBRARY_FROM_PROGRAM "/gstreamer/" + name, // of the archive
                  "gst/" + name});
}

std::string user_folder() {
    const char* config = std::getenv("XDG_CONFIG_HOME"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    const char* home = std::getenv("HOME");              // NOLINT(concurrency-mt-unsafe)
    if (config && *config)
        return std::string(config) + "/specklescope";
    return home && *home ? std::string(home) + "/.config/specklescope" : "";
}

} // namespace specklescope
