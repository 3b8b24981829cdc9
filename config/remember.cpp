#include "config/atomic_file.hpp"
#include "config/settings.hpp"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>

namespace specklescope {

std::string remembered_path() {
    const char* config = std::getenv("XDG_CONFIG_HOME"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    const char* home = std::getenv("HOME");              // NOLINT(concurrency-mt-unsafe)
    if (config && *config)
        return std::string(config) + "/specklescope/last.toml";
    return home && *home ? std::string(home) + "/.config/specklescope/last.toml" : "";
}

void load_remembered(Settings& settings) {
    const std::string path = remembered_path();
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return;
    try {
        Settings last;
        load_config(path, last);
        settings.source = last.source;
        settings.source_remembered = !last.source.empty();
        settings.view = last.view;
        settings.chain = last.chain;
    } catch (const Error& error) {
        spdlog::warn("What the window remembered is left out: {}", error.what());
    }
}

void save_remembered(const Settings& settings) {
    const std::string path = remembered_path();
    if (!settings.remember || path.empty())
        return;
    try {
        Settings last;
        last.source = settings.source;
        last.view = settings.view;
        last.chain = settings.chain;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        save_config(path, last);
    } catch (const std::exception& error) {
        spdlog::warn("What the window should remember cannot be kept: {}", error.what());
    }
}

} // namespace specklescope
