#include "files/gst_init.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/source_argument.hpp"
#include "files/gst_handles.hpp"

#include <spdlog/spdlog.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace specklescope {

namespace {

std::string_view text_of(const GLogField& field) {
    const auto* text = static_cast<const char*>(field.value);
    return field.length < 0 ? std::string_view(text)
                            : std::string_view(text, static_cast<std::size_t>(field.length));
}

std::atomic<bool> takes_glib_log{true};
constinit std::atomic<pid_t> started_by{0}; ///< 0: not yet started
constinit std::atomic<bool> child_after_start{false};

/// The program that uses the library may use GStreamer too.
[[maybe_unused]] const int start_watched = ::pthread_atfork(
    nullptr, nullptr, [] { child_after_start = child_after_start || gst_is_initialized() != FALSE; });

GLogWriterOutput to_log(GLogLevelFlags level, const GLogField* fields, gsize count, gpointer) {
    std::string_view domain = "GLib";
    std::string_view message;
    for (gsize i = 0; i < count; ++i) {
        const std::string_view key = fields[i].key;
        if (key == "MESSAGE")
            message = text_of(fields[i]);
        else if (key == "GLIB_DOMAIN")
            domain = text_of(fields[i]);
    }
    run_log().debug("{} ({}): {}", domain, (level & G_LOG_LEVEL_CRITICAL) != 0 ? "critical" : "message",
                    without_secrets(message));
    return G_LOG_WRITER_HANDLED;
}

} // namespace

void init_gstreamer() {
    if (const pid_t by = started_by;
        child_after_start || (by != 0 && by != ::getpid())) // in the midst of its start, too
        throw RunError(
            "GStreamer was started before this process was forked. Start processes with spawn (in Python: "
            "multiprocessing with 'spawn'), or fork before the first video, camera or network stream.");
    static std::once_flag once;
    std::call_once(once, [] {
        started_by = ::getpid();
        if (takes_glib_log)
            g_log_set_writer_func(to_log, nullptr, nullptr);
        GError* raw = nullptr;
        if (!gst_init_check(nullptr, nullptr, &raw)) {
            const GstHandle<GError> error(raw);
            throw RunError(std::string("GStreamer does not start: ") +
                           (error ? error->message : "no reason given") + ".");
        }
    });
}

void leave_glib_log() { takes_glib_log = false; }

std::future<GstStateChangeReturn> set_state_aside(GstElement* element, GstState state) {
    std::promise<GstStateChangeReturn> promise;
    std::future<GstStateChangeReturn> done = promise.get_future();
    try {
        std::thread([promise = std::move(promise), held = share(element), state]() mutable {
            promise.set_value(gst_element_set_state(held.get(), state));
        }).detach();
    } catch (const std::system_error&) {
        throw RunError("GStreamer " + did_not_start());
    }
    return done;
}

} // namespace specklescope
