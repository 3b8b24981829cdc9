#include "config/statistics_file.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "config/atomic_file.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

namespace specklescope {

void check_statistics_file(const std::string& path) {
    check_replaceable(path, {.what = "statistics", .option = "--stats", .holds = is_statistics});
}

bool keep_statistics(const std::string& path, const std::string& json) noexcept {
    if (path.empty())
        return true;
    try {
        check_statistics_file(path);
        write_atomically(path, json);
        return true;
    } catch (const std::exception& error) {
        run_log().error("{} The statistics follow here.", error.what());
    }
    std::fputs((json + "\n").c_str(), stderr);
    std::fflush(stderr);
    return false;
}

} // namespace specklescope
