// The log of a run, for code that does not know its user.
#pragma once

#include <memory>

namespace spdlog {
class logger;
}

namespace specklescope {

/// Logger named by log_to(), by default spdlog's default logger.
spdlog::logger& run_log();
/// Sets the logger for all threads; a library has no terminal of its own.
void log_to(std::shared_ptr<spdlog::logger> logger);

} // namespace specklescope
