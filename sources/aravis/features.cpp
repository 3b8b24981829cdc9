#include "sources/aravis/features.hpp"

#include "base/long_work.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace specklescope {

namespace {

/// "trigger" from "trigger = Line1".
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

/// Restores the previous settings in reverse order, unless kept.
class Undo {
public:
    explicit Undo(ArvCamera* camera) : camera_(camera) {}
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() {
        for (; !before_.empty(); before_.pop_back()) {
            try {
                write(camera_, before_.back());
            } catch (const Error&) { // NOLINT(bugprone-empty-catch): only the first error is reported
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
        undo.add(std::move(before)); // first: the camera may apply it and return an error
        write(camera.camera, setting);
    }
    undo.keep();
}

namespace {

using Switch = AravisParams::Switch;

bool same(const std::string& a, const std::string& b) {
    return g_ascii_strcasecmp(a.c_str(), b.c_str()) == 0;
}

/// The camera's spelling of a name, if it has it.
std::string spelled(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& n) { return same(n, name); });
    return found == names.end() ? name : *found;
}

/// The first of the names that the camera has, or the first name.
const char* either(const NamedCamera& camera, const char* name, const char* older) {
    return camera.has(name) || !camera.has(older) ? name : older;
}

const char* to_genicam(AravisParams::Activation activation) {
    constexpr std::array<const char*, 6> kNames = {"",        "RisingEdge", "FallingEdge",
                                                   "AnyEdge", "LevelHigh",  "LevelLow"};
    return kNames[static_cast<std::size_t>(activation)];
}

const char* truth(Switch position) { return position == Switch::on ? "true" : "false"; }

/// One frame per trigger, and for nothing else: other triggers of the camera may be on.
void add_trigger(const NamedCamera& camera, const AravisParams& params, std::vector<FeatureSetting>& list) {
    const bool off = same(params.trigger, "off");
    const std::string option = "trigger = " + params.trigger;
    if (same(params.trigger, "keep") || (off && !camera.has("TriggerMode")))
        return;
    const std::vector<std::string> selectors = camera.entries("TriggerSelector");
    for (const std::string& selector : selectors)
        if (off || selector != "FrameStart") {
            list.push_back({option, "TriggerSelector", selector});
            list.push_back({option, "TriggerMode", "Off"});
        }
    if (off && selectors.empty())
        list.push_back({option, "TriggerMode", "Off"});
    if (off)
        return;
    if (!selectors.empty())
        list.push_back({option, "TriggerSelector", "FrameStart"});
    list.push_back({option, "TriggerMode", "On"});
    list.push_back({option, "TriggerSource", spelled(camera.entries("TriggerSource"), params.trigger)});
    if (params.activation != AravisParams::Activation::keep) {
        const std::string edge = to_genicam(params.activation);
        list.push_back({"activation = " + edge, "TriggerActivation", edge});
    }
}

} // namespace

bool wants_software_trigger(const AravisParams& params) { return same(params.trigger, "software"); }

void check_wiring(const AravisParams& params) {
    const auto refuse = [](const std::string& sentence) { throw UsageError("source aravis: " + sentence); };
    if (params.exposure_ms > 0 && !params.exposures.empty())
        refuse("exposure and exposures cannot both be set. Leave one of them out.");
    const bool software = wants_software_trigger(params);
    const bool line = !software && !same(params.trigger, "keep") && !same(params.trigger, "off");
    if (params.activation != AravisParams::Activation::keep && !line)
        refuse("activation needs an input as trigger. Set trigger=Line1, for example.");
    if (params.trigger_rate > 0 && !software)
        refuse("trigger-rate needs software triggers. Set trigger=software.");
    if (params.triggers > 0 && params.trigger_rate <= 0)
        refuse(
            "triggers needs software triggers with a rate. Set trigger=software and a trigger-rate above 0.");
    if (params.trigger_start == AravisParams::Start::record && params.trigger_rate <= 0)
        refuse("trigger-start=record needs software triggers with a rate. Set trigger=software and a "
               "trigger-rate above 0.");
}

std::vector<FeatureSetting> wiring(const NamedCamera& camera, const AravisParams& params) {
    std::vector<FeatureSetting> list;
    add_trigger(camera, params, list);
    if (!params.output_line.empty()) {
        const std::string option = "output-line = " + params.output_line;
        list.push_back({option, "LineSelector", spelled(camera.entries("LineSelector"), params.output_line)});
        if (camera.has("LineMode")) // many cameras have a direction per line
            list.push_back({option, "LineMode", "Output"});
        list.push_back({"output-source = " + params.output_source, "LineSource", params.output_source});
    }
    if (params.ptp != Switch::keep)
        list.push_back({"ptp = " + std::string(params.ptp == Switch::on ? "on" : "off"),
                        either(camera, "PtpEnable", "GevIEEE1588"), truth(params.ptp)});
    if (params.chunks == Switch::off)
        list.push_back({"chunks = off", "ChunkModeActive", "false"});
    const std::vector<std::string> offered = camera.entries("ChunkSelector");
    const auto offers = [&](const char* chunk) {
        return std::find(offered.begin(), offered.end(), chunk) != offered.end();
    };
    const bool cycles = !params.exposures.empty();
    const std::string in_turn = "exposures = " + params.exposures;
    if (cycles && camera.has("ExposureAuto"))
        list.push_back({in_turn, "ExposureAuto", "Off"});
    if (params.chunks == Switch::on || (params.chunks == Switch::keep && cycles && offers("ExposureTime"))) {
        const std::string option = params.chunks == Switch::on ? "chunks = on" : in_turn;
        list.push_back({option, "ChunkModeActive", "true"});
        for (const char* chunk : {"ExposureTime", "Timestamp"}) {
            if (chunk != std::string("ExposureTime") && !offers(chunk))
                continue; // each frame's leader contains the time too
            list.push_back({option, "ChunkSelector", chunk});
            list.push_back({option, "ChunkEnable", "true"});
        }
    }
    check_features(camera, list);
    if (wants_software_trigger(params))
        check_features(camera, {{"trigger = software", "TriggerSoftware", ""}});
    return list;
}

bool is_triggered(const NamedCamera& camera) { return camera.value("TriggerMode") == "On"; }

std::string ptp_state(const NamedCamera& camera, std::chrono::milliseconds patience) {
    const char* enable = either(camera, "PtpEnable", "GevIEEE1588");
    if (!camera.has(enable) || !arv_camera_get_boolean(camera.camera, enable, nullptr))
        return {};
    const char* latch = either(camera, "PtpDataSetLatch", "GevIEEE1588DataSetLatch");
    const char* status = either(camera, "PtpStatus", "GevIEEE1588Status");
    const auto end = std::chrono::steady_clock::now() + patience;
    std::string state;
    while (true) {
        if (camera.has(latch))
            arv_camera_execute_command(camera.camera, latch, nullptr);
        state = camera.value(status);
        if (state.empty())
            return "on";
        if (state == "Slave" || state == "Master" || std::chrono::steady_clock::now() > end)
            return state;
        work_goes_on("waiting for PTP of " + camera.name);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

std::optional<double> Chunks::exposure_ms(ArvBuffer* buffer) const {
    if (!parser_ || !arv_buffer_has_chunks(buffer))
        return std::nullopt;
    GError* error = nullptr;
    const double us = arv_chunk_parser_get_float_value(parser_.get(), buffer, "ChunkExposureTime", &error);
    const bool there = !error && us > 0;
    g_clear_error(&error);
    return there ? std::optional(us / 1000) : std::nullopt;
}

std::optional<std::int64_t> Chunks::time(ArvBuffer* buffer) const {
    if (!parser_ || !arv_buffer_has_chunks(buffer))
        return std::nullopt;
    GError* error = nullptr;
    const gint64 ticks = arv_chunk_parser_get_integer_value(parser_.get(), buffer, "ChunkTimestamp", &error);
    const bool there = !error && ticks > 0;
    g_clear_error(&error);
    return there ? std::optional<std::int64_t>(ticks) : std::nullopt;
}

} // namespace specklescope
