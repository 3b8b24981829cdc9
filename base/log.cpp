#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace specklescope {

namespace {
std::atomic<spdlog::logger*> named{nullptr};
}

spdlog::logger& run_log() {
    spdlog::logger* logger = named.load(std::memory_order_acquire);
    return logger ? *logger : *spdlog::default_logger_raw();
}

void log_to(std::shared_ptr<spdlog::logger> logger) {
    // Earlier loggers are kept, since callers may hold references; there are few. Never destroyed, since
    // threads of libraries still log at exit.
    struct Kept {
        std::mutex mutex;
        std::vector<std::shared_ptr<spdlog::logger>> loggers;
    };
    static Kept& kept = *new Kept; // NOLINT: never destroyed
    const std::scoped_lock lock(kept.mutex);
    named.store(logger.get(), std::memory_order_release);
    kept.loggers.push_back(std::move(logger));
}

} // namespace specklescope
