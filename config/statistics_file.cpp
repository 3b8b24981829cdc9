#include "config/statistics_file.hpp"

#include "base/error.hpp"
#include "config/atomic_file.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace specklescope {

namespace {

/// Nothing, or what to_json() writes.
bool may_be_replaced(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{1} << 22; // statistics have a few kB
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return true;
    if (!std::filesystem::is_regular_file(status))
        return false;
    std::ifstream file(path, std::ios::binary);
    std::string text(kMost, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text.empty() ? file.eof() : is_statistics(text);
}

} // namespace

void check_statistics_file(const std::string& path) {
    check_writable(path);
    if (!may_be_replaced(path))
        throw RunError(
            "'" + path +
            "' exists and holds no statistics of this program, so it is not replaced; give --stats "
            "another name.");
}

bool keep_statistics(const std::string& path, const std::string& json) noexcept {
    if (path.empty())
        return true;
    try {
        check_statistics_file(path);
        write_atomically(path, json);
        return true;
    } catch (const std::exception& error) {
        spdlog::error("{} The statistics follow here.", error.what());
    }
    std::fputs((json + "\n").c_str(), stderr);
    std::fflush(stderr);
    return false;
}

} // namespace specklescope
