#include "sources/aravis/features.hpp"

#include <algorithm>

namespace specklescope {

namespace {

/// "trigger" of "trigger = Line1".
std::string key_of(const std::string& option) { return option.substr(0, option.find(' ')); }

bool is_boolean(ArvCamera* camera, const std::string& feature) {
    return ARV_IS_GC_BOOLEAN(arv_device_get_feature(arv_camera_get_device(camera), feature.c_str()));
}

std::string read(ArvCamera* camera, const FeatureSetting& setting) {
    const char* feature = setting.feature.c_str();
    if (is_boolean(camera, setting.feature))
        return ask(setting.option,
                   [&](GError** error) { return arv_camera_get_boolean(camera, feature, error); })
                   ? "true"
                   : "false";
    const char* value =
        ask(setting.option, [&](GError** error) { return arv_camera_get_string(camera, feature, error); });
    return value ? value : "";
}

void write(ArvCamera* camera, const FeatureSetting& setting) {
    const char* feature = setting.feature.c_str();
    const bool boolean = is_boolean(camera, setting.feature);
    ask(setting.option, [&](GError** error) {
        if (boolean)
            arv_camera_set_boolean(camera, feature, setting.value == "true", error);
        else
            arv_camera_set_string(camera, feature, setting.value.c_str(), error);
        return 0;
    });
}

/// Puts back what was set, last first, unless it is kept.
class Undo {
public:
    explicit Undo(ArvCamera* camera) : camera_(camera) {}
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() {
        for (; !before_.empty(); before_.pop_back()) {
            try {
                write(camera_, before_.back());
            } catch (const Error&) { // NOLINT(bugprone-empty-catch): the first reason is the one to tell
            }
        }
    }
    void add(FeatureSetting before) { before_.push_back(std::move(before)); }
    void keep() { before_.clear(); }

private:
    ArvCamera* camera_;
    std::vector<FeatureSetting> before_;
};

} // namespace

bool NamedCamera::has(const char* feature) const {
    return arv_camera_is_feature_available(camera, feature, nullptr) != FALSE;
}

std::string NamedCamera::value(const char* feature) const {
    const char* text = has(feature) ? arv_camera_get_string(camera, feature, nullptr) : nullptr;
    return text ? text : "";
}

std::vector<std::string> NamedCamera::entries(const char* feature) const {
    guint count = 0;
    const std::unique_ptr<const char*, void (*)(const char**)> names(
        arv_camera_dup_available_enumerations_as_strings(camera, feature, &count, nullptr),
        [](const char** list) { g_free(list); });
    return names ? std::vector<std::string>(names.get(), names.get() + count) : std::vector<std::string>();
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

void check_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings) {
    for (const FeatureSetting& setting : settings)
        if (!camera.has(setting.feature.c_str()))
            throw UsageError("source aravis: " + setting.option + " needs the feature " + setting.feature +
                             ", which " + camera.name + " does not have. Leave " + key_of(setting.option) +
                             " out.");
}

void set_features(const NamedCamera& camera, const std::vector<FeatureSetting>& settings) {
    Undo undo(camera.camera);
    for (const FeatureSetting& setting : settings) {
        check_features(camera, {setting});
        const std::vector<std::string> allowed = camera.entries(setting.feature.c_str());
        if (!is_boolean(camera.camera, setting.feature) &&
            std::find(allowed.begin(), allowed.end(), setting.value) == allowed.end())
            throw UsageError("source aravis: " + setting.option + " is not possible: " + setting.feature +
                             " of " + camera.name + " takes " + listed(allowed) + ". Choose one of them.");
        FeatureSetting before = setting;
        before.value = read(camera.camera, setting);
        if (before.value == setting.value)
            continue;
        undo.add(std::move(before)); // first: the camera may take it and answer with an error
        write(camera.camera, setting);
    }
    undo.keep();
}

} // namespace specklescope
