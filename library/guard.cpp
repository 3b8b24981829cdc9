#include "library/guard.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "base/text.hpp"
#include "files/gst_init.hpp"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

namespace specklescope::library {

namespace {
// No destructor: a thread may end after the library's own end.
thread_local std::array<char, 2048> sentence{};
} // namespace

void remember(const char* text) noexcept {
    const std::string_view kept = beginning(text, sentence.size() - 1);
    std::memcpy(sentence.data(), kept.data(), kept.size());
    sentence[kept.size()] = '\0';
}

const char* remembered() noexcept { return sentence.data(); }

specklescope_status status_of_exception() noexcept {
    try {
        try {
            throw;
        } catch (const StatusError& error) {
            remember(error.what());
            return error.status;
        } catch (const Cancelled& error) {
            remember(error.what());
            return SPECKLESCOPE_CANCELLED;
        } catch (const UsageError& error) {
            remember(error.what());
            return SPECKLESCOPE_USAGE_ERROR;
        } catch (const std::exception& error) {
            remember(one_line(sentence_of(error)).c_str());
            return SPECKLESCOPE_RUN_ERROR;
        }
    } catch (...) { // not a std::exception, or no memory for the message
        remember("The memory is used up; free results that are no longer needed, or use smaller images.");
        return SPECKLESCOPE_RUN_ERROR;
    }
}

specklescope_status refuse_forked() noexcept {
    remember("libspecklescope is not fork-safe: this process was forked from one that uses it. Use spawn, or "
             "fork before the first call.");
    return SPECKLESCOPE_BAD_HANDLE;
}

void keep_quiet() {
    static std::once_flag once;
    std::call_once(once, [] {
        leave_glib_log();
        auto logger = std::make_shared<spdlog::logger>("libspecklescope",
                                                       std::make_shared<spdlog::sinks::null_sink_st>());
        logger->set_level(spdlog::level::off);
        log_to(std::move(logger));
    });
}

void need(const void* given, const char* what) {
    if (!given)
        throw UsageError(std::string(what) + " is NULL; give its address.");
}

void check_struct(std::size_t given, std::size_t known, const char* what,
                  std::span<const std::size_t> earlier) {
    if (given == known || std::find(earlier.begin(), earlier.end(), given) != earlier.end())
        return;
    const std::string sizes = std::string(what) + " says that it has " + std::to_string(given) +
                              " bytes, and libspecklescope " SPECKLESCOPE_VERSION " knows it with " +
                              std::to_string(known);
    throw UsageError(given > known
                         ? sizes + ": it is of a later specklescope.h; build with the header of this "
                                   "library, or install a later library."
                         : sizes + "; set struct_size to sizeof the struct.");
}

void write_text(const std::string& from, char* text, std::size_t size, std::size_t* needed) {
    if (needed)
        *needed = from.size() + 1;
    if (!text && size == 0 && needed)
        return;
    need(text, "The place for the text");
    if (size <= from.size())
        throw UsageError("The text takes " + std::to_string(from.size() + 1) + " bytes and has room for " +
                         std::to_string(size) + "; ask for `needed` first.");
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): need() has thrown
    std::memcpy(text, from.c_str(), from.size() + 1);
}

} // namespace specklescope::library

extern "C" {

const char* specklescope_version(void) { return SPECKLESCOPE_VERSION; }

const char* specklescope_last_error(void) { return specklescope::library::remembered(); }

} // extern "C"
