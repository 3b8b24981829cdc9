#include "files/input_file.hpp"

#include "pipeline/error.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace specklescope {

namespace fs = std::filesystem;

void check_exists(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(fs::path(path), ignored))
        throw RunError("There is no file '" + path + "'; check the name and the folder.");
}

InputFile open_input(const std::string& path) {
    check_exists(path);
    std::error_code ignored;
    if (fs::is_directory(fs::path(path), ignored))
        throw RunError("'" + path + "' is a folder where a file is needed.");
    InputFile file(std::fopen(path.c_str(), "rbe"));
    if (!file)
        throw RunError("'" + path + "' cannot be opened: " + std::strerror(errno) +
                       "."); // NOLINT(concurrency-mt-unsafe)
    return file;
}

std::uint64_t input_size(const std::string& path) {
    std::error_code error;
    const auto bytes = fs::file_size(fs::path(path), error);
    return error ? 0 : static_cast<std::uint64_t>(bytes);
}

} // namespace specklescope
