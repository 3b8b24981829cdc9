// Where rooms that know no user say what happened.
#pragma once

#include <memory>

namespace spdlog {
class logger;
}

namespace specklescope {

/// spdlog's default logger, which a program sets up as it likes, or the one that log_to() has named.
spdlog::logger& run_log();
/// From now on, for all threads: a library has no terminal of its own.
void log_to(std::shared_ptr<spdlog::logger> logger);

} // namespace specklescope
