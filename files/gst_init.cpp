#include "files/gst_init.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/source_argument.hpp"
#include "files/gst_handles.hpp"

#include <spdlog/spdlog.h>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

/// In a Python wheel (packaging/wheel) the library, GStreamer and its plugins are bundled. Plugins of the
/// system are linked with another GStreamer and must not be loaded. The environment names the bundled ones
/// while GStreamer starts; other users of GStreamer in this process, and later child processes, have their
/// own.
class BundledPlugins {
public:
    BundledPlugins() {
        Dl_info library{};
        if (::dladdr(reinterpret_cast<const void*>(&init_gstreamer), &library) == 0)
            return;
        const auto folder = std::filesystem::path(library.dli_fname).parent_path() / "gstreamer-plugins";
        std::error_code missing;
        if (!std::filesystem::is_directory(folder, missing))
            return;
        set("GST_PLUGIN_SYSTEM_PATH_1_0", folder.string());
        set("GST_PLUGIN_PATH_1_0", "");
        set("GST_REGISTRY_1_0", std::string(g_get_user_cache_dir()) + "/specklescope/gstreamer-wheel.bin");
        gst_registry_fork_set_enabled(FALSE);                   // the scanner is a program of the system
        ::setenv("GIO_MODULE_DIR", folder.string().c_str(), 1); // read later, and has no module there
    }
    ~BundledPlugins() {
        for (const auto& [name, value] : before_)
            value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    }
    BundledPlugins(const BundledPlugins&) = delete;
    BundledPlugins& operator=(const BundledPlugins&) = delete;

private:
    void set(const char* name, const std::string& value) {
        const char* const before = std::getenv(name);
        before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
        ::setenv(name, value.c_str(), 1);
    }
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

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
        const BundledPlugins bundled;
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
