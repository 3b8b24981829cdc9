// A camera's GenICam features: queried, and set all or none.
#pragma once

#include "base/error.hpp"
#include "sources/aravis/aravis_source.hpp"

#include <arv.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct GObjectRelease {
    void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T> using ArvHandle = std::unique_ptr<T, GObjectRelease>;

/// Calls an Aravis function whose last argument is a GError**; throws its message as UsageError.
template <class F> auto ask(const std::string& what, F&& function) {
    GError* error = nullptr;
    const auto value = function(&error);
    if (!error)
        return value;
    const std::string reason = error->message;
    g_error_free(error);
    throw UsageError("source aravis: " + what + ": " + reason + ".");
}

/// A camera and its name for the user.
struct NamedCamera {
    ArvCamera* camera;
    std::string name;

    bool has(const char* feature) const;
    /// Current value of an enumeration; empty if it does not exist.
    std::string value(const char* feature) const;
    std::vector<std::string> entries(const char* feature) const; ///< currently available values
};

/// "Line0, Line1".
std::string listed(const std::vector<std::string>& names);

struct FeatureSetting {
    std::string option;  ///< option that needs it, as written by the user: "trigger = Line1"
    std::string feature; ///< an enumeration or a boolean
    std::string value;   ///< "true" or "false" for a boolean
};

/// Throws UsageError if a feature is missing, with option, feature, camera and remedy.
void check_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings);
/// In order, since a selector must be set before the features it selects. Throws UsageError with the allowed
/// values, after restoring all settings.
void set_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings);

// Triggers, output lines, chunks and PTP of a camera.

/// Throws UsageError for contradictory options, for any camera.
void check_wiring(const AravisParams& params);
/// Feature settings for the options on this camera. Throws UsageError if the camera lacks a feature; sets
/// nothing.
std::vector<FeatureSetting> wiring(const NamedCamera& camera, const AravisParams& params);

bool wants_software_trigger(const AravisParams& params);
/// The camera waits for a trigger, set by this program or another.
bool is_triggered(const NamedCamera& camera);
/// "Slave", "Master", "Listening"…; empty without PTP. With `patience` it waits that long for a state of
/// master or slave.
std::string ptp_state(const NamedCamera& camera, std::chrono::milliseconds patience);

/// Chunk data of a frame; nothing if a frame has none.
class Chunks {
public:
    explicit Chunks(ArvCamera* camera) : parser_(arv_camera_create_chunk_parser(camera)) {}
    std::optional<double> exposure_ms(ArvBuffer* buffer) const;
    std::optional<std::int64_t> time(ArvBuffer* buffer) const; ///< ticks of the camera's clock

private:
    ArvHandle<ArvChunkParser> parser_;
};

} // namespace specklescope
