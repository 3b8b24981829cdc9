// V4L2 cameras, through v4l2src.
#include "base/error.hpp"
#include "files/whole_file.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/gst/v4l2_controls.hpp"
#include "sources/registry.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace specklescope {

namespace {

using Format = V4l2Params::Format;

/// From sysfs, without opening devices. Index 0 is a camera's image node; others carry metadata.
std::vector<std::pair<std::string, std::string>> discover() {
    std::vector<std::pair<std::string, std::string>> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/video4linux", failed)) {
        std::string name;
        int index = 0;
        std::ifstream(entry.path() / "index") >> index;
        std::getline(std::ifstream(entry.path() / "name"), name);
        if (index == 0 && entry.path().filename().string().starts_with("video"))
            found.emplace_back("v4l2:/dev/" + entry.path().filename().string(), name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string found_text() {
    std::string text;
    for (const auto& [source, name] : discover())
        text += (text.empty() ? "" : ", ") + source + " (" + name + ")";
    return text.empty() ? "no V4L2 camera is connected" : "connected: " + text;
}

/// "video/x-raw,format=GRAY8,width=640" and so on; automatic offers raw and JPEG.
std::string caps_text(const V4l2Params& params) {
    std::string size;
    if (params.width > 0)
        size += ", width = " + std::to_string(params.width);
    if (params.height > 0)
        size += ", height = " + std::to_string(params.height);
    if (params.rate > 0)
        size += ", framerate = " + std::to_string(std::lround(params.rate * 1000)) + "/1000";
    switch (params.format) {
    case Format::gray8:
        return "video/x-raw, format = GRAY8" + size;
    case Format::gray16le:
        return "video/x-raw, format = GRAY16_LE" + size;
    case Format::yuyv:
        return "video/x-raw, format = YUY2" + size;
    case Format::mjpeg:
        return "image/jpeg" + size;
    case Format::automatic:
        break;
    }
    return "video/x-raw" + size + "; image/jpeg" + size;
}

void link_decoded(GstElement*, GstPad* pad, gpointer convert) {
    const GstHandle<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(convert), "sink"));
    if (!gst_pad_is_linked(sink.get()))
        gst_pad_link(pad, sink.get());
}

class V4l2Source final : public GstSource {
public:
    V4l2Source(std::string device, const Params& params) : GstSource(device), device_(std::move(device)) {
        params_ = params;
        asked_ = params_.as<V4l2Params>();
    }

    void close() override {
        controls_.reset();
        file_ = {};
        GstSource::close();
    }

    void set(std::string_view name, const ParamValue& value) override {
        Params edited = params_;
        edited.set(name, value);
        if (controls_ && edited.table().at(name).cost == Cost::rebuild)
            throw UsageError("source v4l2: " + std::string(name) +
                             " cannot change while the camera runs. Open it again.");
        const auto& now = edited.as<V4l2Params>();
        if (controls_ && name == "exposure")
            controls_->set_exposure(now.exposure_ms);
        if (controls_ && name == "gain")
            controls_->set_gain(now.gain);
        if (controls_ && name == "rate" && now.rate > 0)
            controls_->set_rate(now.rate);
        asked_ = now;
        params_ = std::move(edited);
        if (controls_)
            read_back();
    }

private:
    GstGraph build() override {
        std::string device = device_;
        if (const auto all = discover(); device.empty() && !all.empty())
            device = all.front().first.substr(std::string_view("v4l2:").size());
        if (device.empty() || !std::filesystem::exists(device))
            throw RunError("There is no camera '" + device + "'; " + found_text() + ".");
        set_name(device);
        open_controls(device);
        GstGraph graph{own(gst_pipeline_new(nullptr)), nullptr};
        const GstHandle<GstElement> camera = make_element("v4l2src", "gstreamer1.0-plugins-good");
        const GstHandle<GstElement> filter = make_element("capsfilter", "libgstreamer1.0-0");
        const GstHandle<GstElement> decoder = make_element("decodebin", "gstreamer1.0-plugins-base");
        const GstHandle<GstCaps> caps(gst_caps_from_string(caps_text(asked_).c_str()));
        g_object_set(camera.get(), "device", device.c_str(), nullptr);
        g_object_set(filter.get(), "caps", caps.get(), nullptr);
        GstTail tail = make_tail();
        add_and_link(graph.pipeline.get(), {camera.get(), filter.get(), decoder.get()});
        add_and_link(graph.pipeline.get(), {tail.convert.get(), tail.sink.get()});
        g_signal_connect(decoder.get(), "pad-added", G_CALLBACK(link_decoded), tail.convert.get());
        graph.sink = std::move(tail.sink);
        return graph;
    }

    void opened(SourceInfo& info) override {
        if (controls_)
            read_back();
        if (const double rate = params_.as<V4l2Params>().rate; rate > 0)
            info.rate = rate;
    }

    /// Regularly queries a camera that updates the value of its automatic exposure.
    void describe(FrameInfo& info) override {
        constexpr auto kAskEvery = std::chrono::milliseconds(500);
        if (controls_ && follows_ && SteadyClock::now() - read_ > kAskEvery)
            read_exposure();
        info.exposure_ms = exposure_ms_;
        if (const double gain = params_.as<V4l2Params>().gain; gain >= 0)
            info.gain = gain;
    }

    /// A second handle on the device for controls, which also works before streaming.
    void open_controls(const std::string& device) {
        file_ = File(::open(device.c_str(),
                            O_RDWR | O_NONBLOCK | O_CLOEXEC)); // NOLINT(cppcoreguidelines-pro-type-vararg)
        if (file_.fd() < 0)
            return; // v4l2src reports the reason
        controls_.emplace(name(), [fd = file_.fd()](unsigned long request, void* argument) {
            int failed = 0;
            do
                failed = ::ioctl(fd, request, argument); // NOLINT(cppcoreguidelines-pro-type-vararg)
            while (failed != 0 && errno == EINTR);
            return failed == 0 ? 0 : errno;
        });
        if (asked_.exposure_ms > 0)
            controls_->set_exposure(asked_.exposure_ms);
        if (asked_.gain >= 0)
            controls_->set_gain(asked_.gain);
    }

    void read_exposure() {
        exposure_ms_ = controls_->exposure_ms().value_or(std::numeric_limits<double>::quiet_NaN());
        read_ = SteadyClock::now();
    }

    /// Reads the camera's actual settings.
    void read_back() {
        read_exposure();
        const bool automatic = controls_->automatic_exposure();
        follows_ = automatic && std::isfinite(exposure_ms_);
        auto& params = params_.as<V4l2Params>();
        params.exposure_ms = automatic || !std::isfinite(exposure_ms_) ? 0 : exposure_ms_;
        params.gain = controls_->gain().value_or(-1);
        params.rate = controls_->rate().value_or(params.rate);
    }

    Status ended() override { throw RunError("The camera '" + name() + "' has stopped."); }

    std::string explain(const Failure& failure) const override {
        return "The camera '" + name() + "' delivers no frames: " + failure.reason +
               ". Check that it is connected, not in use, and supports the format (" + caps_text(asked_) +
               ").";
    }

    std::string device_;
    V4l2Params asked_; ///< as requested; params() contain the actual values
    File file_;
    std::optional<V4l2Controls> controls_; ///< while the device is open
    double exposure_ms_ = std::numeric_limits<double>::quiet_NaN();
    bool follows_ = false; ///< exposure_ms_ changes automatically
    SteadyClock::time_point read_{};
};

std::unique_ptr<Source> make_v4l2(const SourceText& text, const Params& params) {
    return std::make_unique<V4l2Source>(text.target, params);
}

} // namespace

SourceType v4l2_source_type() {
    static const ParamTable table =
        Declare<V4l2Params>("source v4l2")
            .integer("width", &V4l2Params::width,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "Width. 0: the camera's choice"})
            .integer("height", &V4l2Params::height,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "Height. 0: the camera's choice"})
            .real("rate", &V4l2Params::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = 0.001,
                   .doc = "Frame rate, also while running if the camera allows. 0: the camera's choice"})
            .real("exposure", &V4l2Params::exposure_ms,
                  {.unit = "ms",
                   .min = 0,
                   .max = 100000,
                   .logarithmic = true,
                   .doc = "Exposure in steps of 0.1 ms. 0: automatic"})
            .real("gain", &V4l2Params::gain,
                  {.min = -1, .max = 1e9, .doc = "Gain in the camera's unit. -1: automatic"})
            .choice("format", &V4l2Params::format,
                    {{"auto", "Automatic"},
                     {"gray8", "Grey, 8 bit"},
                     {"gray16le", "Grey, 16 bit"},
                     {"yuyv", "YUYV"},
                     {"mjpeg", "MJPEG"}},
                    {.label = "Pixel format",
                     .cost = Cost::rebuild,
                     .doc = "Pixel format requested from the camera"})
            .table();
    return {.kind = "v4l2",
            .syntax = "v4l2:/dev/video0",
            .doc = "Camera of Video4Linux (USB webcams, frame grabbers)",
            .table = &table,
            .make = make_v4l2,
            .discover = discover};
}

} // namespace specklescope
