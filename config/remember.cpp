#include "analysis/regions_file.hpp"
#include "base/log.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/settings.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "sources/source_text.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>

namespace specklescope {

namespace {

std::string remembered_regions_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/regions.json";
}

void load_remembered_regions(Settings& settings) {
    const std::string path = remembered_regions_path();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return;
    try {
        settings.regions = load_regions(path);
    } catch (const Error& error) {
        run_log().warn("The regions that the window remembered are left out: {}", error.what());
    }
}

} // namespace

std::string remembered_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/last.toml";
}

void load_remembered(Settings& settings, bool source_only) {
    const std::string path = remembered_path();
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return;
    try {
        Settings last;
        last.trusted = true; // it is our own
        load_config(path, last);
        check(last);
        settings.source = last.source;
        settings.source_remembered = !last.source.empty();
        load_remembered_regions(settings);
        settings.um_per_source_px = um_per_source_px(last);
        if (source_only)
            return;
        settings.view = last.view;
        settings.chain = last.chain;
    } catch (const Error& error) {
        run_log().warn("What the window remembered is left out: {}", error.what());
    }
}

void save_remembered(const Settings& settings) {
    const std::string path = remembered_path();
    if (!settings.remember || path.empty())
        return;
    try {
        Settings last;
        last.source = absolute_source_text(settings.source); // the next window may start in another folder
        if (!is_utf8(last.source.revealed()))
            last.source = {}; // TOML cannot hold it; all else is kept
        last.view = settings.view;
        last.chain = settings.chain;
        last.um_per_source_px = um_per_source_px(settings);
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        save_config(path, last);
        if (settings.regions && !settings.regions->empty())
            write_atomically(remembered_regions_path(), to_json(*settings.regions), 0600);
        else
            std::filesystem::remove(remembered_regions_path());
    } catch (const std::exception& error) {
        run_log().warn("What the window should remember cannot be kept: {}", error.what());
    }
}

} // namespace specklescope
