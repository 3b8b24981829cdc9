// V4L2 cameras, through v4l2src.
#include "pipeline/error.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace specklescope {

namespace {

using Format = V4l2Params::Format;

/// From sysfs, without touching the devices. Index 0 is a camera's image node; others carry its metadata.
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
    }

private:
    GstGraph build() override {
        std::string device = device_;
        if (const auto all = discover(); device.empty() && !all.empty())
            device = all.front().first.substr(std::string_view("v4l2:").size());
        if (device.empty() || !std::filesystem::exists(device))
            throw RunError("There is no camera '" + device + "'; " + found_text() + ".");
        set_name(device);
        GstGraph graph{own(gst_pipeline_new(nullptr)), nullptr};
        const GstHandle<GstElement> camera = make_element("v4l2src", "gstreamer1.0-plugins-good");
        const GstHandle<GstElement> filter = make_element("capsfilter", "libgstreamer1.0-0");
        const GstHandle<GstElement> decoder = make_element("decodebin", "gstreamer1.0-plugins-base");
        const GstHandle<GstCaps> caps(gst_caps_from_string(caps_text(params_.as<V4l2Params>()).c_str()));
        g_object_set(camera.get(), "device", device.c_str(), nullptr);
        g_object_set(filter.get(), "caps", caps.get(), nullptr);
        GstTail tail = make_tail();
        add_and_link(graph.pipeline.get(), {camera.get(), filter.get(), decoder.get()});
        add_and_link(graph.pipeline.get(), {tail.convert.get(), tail.sink.get()});
        g_signal_connect(decoder.get(), "pad-added", G_CALLBACK(link_decoded), tail.convert.get());
        graph.sink = std::move(tail.sink);
        return graph;
    }

    Status ended() override { throw RunError("The camera '" + name() + "' has stopped."); }

    std::string explain(const Failure& failure) const override {
        return "The camera '" + name() + "' gives no picture: " + failure.reason +
               "; check that it is connected, not in use, and can do the format asked for (" +
               caps_text(params_.as<V4l2Params>()) + ").";
    }

    std::string device_;
};

std::unique_ptr<Source> make(const SourceText& text, const Params& params) {
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
                      .doc = "0: the camera's choice"})
            .integer("height", &V4l2Params::height,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "0: the camera's choice"})
            .real("rate", &V4l2Params::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .cost = Cost::rebuild,
                   .doc = "0: the camera's choice"})
            .choice("format", &V4l2Params::format, {"auto", "gray8", "gray16le", "yuyv", "mjpeg"},
                    {.cost = Cost::rebuild, .doc = "what the camera is asked to send"})
            .table();
    return {.kind = "v4l2",
            .syntax = "v4l2:/dev/video0",
            .doc = "a camera that Linux itself knows (USB webcams, frame grabbers)",
            .table = &table,
            .make = make,
            .discover = discover};
}

} // namespace specklescope
