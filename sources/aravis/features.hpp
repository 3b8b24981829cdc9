// A camera's GenICam features: asked for, and set all or none.
#pragma once

#include "base/error.hpp"

#include <arv.h>

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

struct GObjectRelease {
    void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T> using ArvHandle = std::unique_ptr<T, GObjectRelease>;

/// Calls an Aravis function whose last argument is a GError**; throws what it says as UsageError.
template <class F> auto ask(const std::string& what, F&& function) {
    GError* error = nullptr;
    const auto value = function(&error);
    if (!error)
        return value;
    const std::string reason = error->message;
    g_error_free(error);
    throw UsageError("source aravis: " + what + ": " + reason + ".");
}

/// A camera and what its user calls it.
struct NamedCamera {
    ArvCamera* camera;
    std::string name;

    bool has(const char* feature) const;
    /// Of an enumeration, as it stands; empty where there is none.
    std::string value(const char* feature) const;
    std::vector<std::string> entries(const char* feature) const; ///< values that it takes now
};

/// "Line0, Line1".
std::string listed(const std::vector<std::string>& names);

struct FeatureSetting {
    std::string option;  ///< that wants it, as the user would write it: "trigger = Line1"
    std::string feature; ///< an enumeration or a boolean
    std::string value;   ///< "true" and "false" of a boolean
};

/// Throws UsageError if a feature is not there: option, feature, camera, remedy.
void check_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings);
/// In order, as what a selector selects is behind it. Throws UsageError, with the values allowed, and then
/// everything is as it was.
void set_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings);

} // namespace specklescope
