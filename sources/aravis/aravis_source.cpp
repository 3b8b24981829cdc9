#include "sources/aravis/aravis_source.hpp"
#include "sources/registry.hpp"

#include "sources/aravis/gap_counter.hpp"
#include "sources/gst/gst_appsink.hpp"

#include <arv.h>

#include <array>
#include <cmath>

namespace specklescope {

namespace {

using Format = AravisParams::Format;
using ByteOrder = AravisParams::ByteOrder;

struct FormatRow {
    const char* genicam; ///< name in the PFNC
    const char* caps;
    double full_scale;
};
/// In the order of AravisParams::Format. Samples of 10 to 14 bits sit in the low bits of 16 (PFNC, unpacked
/// formats).
constexpr std::array<FormatRow, 6> kFormats = {{{nullptr, nullptr, 0},
                                                {"Mono8", "GRAY8", 255},
                                                {"Mono10", "GRAY16_LE", 1023},
                                                {"Mono12", "GRAY16_LE", 4095},
                                                {"Mono14", "GRAY16_LE", 16383},
                                                {"Mono16", "GRAY16_LE", 65535}}};

struct ReleaseCamera {
    void operator()(ArvCamera* camera) const { g_object_unref(camera); }
};

/// Calls an Aravis function whose last argument is a GError**; throws what it says as UsageError.
template <class F> auto ask(const std::string& what, F&& function) {
    GError* raw = nullptr;
    const auto value = function(&raw);
    if (const GstHandle<GError> error(raw); error)
        throw UsageError(what + ": " + error->message + ".");
    return value;
}

std::vector<std::pair<std::string, std::string>> discover() {
    std::vector<std::pair<std::string, std::string>> found;
    arv_update_device_list(); // waits about a second for GigE cameras to answer
    const auto text = [](const char* part) { return std::string(part ? part : ""); };
    for (unsigned i = 0; i < arv_get_n_devices(); ++i)
        found.emplace_back("aravis:" + text(arv_get_device_id(i)),
                           text(arv_get_device_vendor(i)) + " " + text(arv_get_device_model(i)) +
                               ", serial " + text(arv_get_device_serial_nbr(i)) + ", " +
                               text(arv_get_device_protocol(i)) + " " + text(arv_get_device_address(i)));
    return found;
}

std::string found_text() {
    std::string text;
    for (const auto& [source, name] : discover())
        text += (text.empty() ? "" : ", ") + source;
    return text.empty() ? "no GigE or USB3 Vision camera answers" : "found: " + text;
}

class AravisSource final : public GstSource {
public:
    AravisSource(std::string camera, const Params& params)
        : GstSource(camera.empty() ? "the camera" : camera), wanted_(std::move(camera)) {
        params_ = params;
        asked_ = params.as<AravisParams>();
    }

    void close() override {
        camera_.reset(); // the control channel must be free before the camera can be opened again
        GstSource::close();
    }

    void set(std::string_view name, const ParamValue& value) override {
        Params edited = params_;
        edited.set(name, value);
        if (camera_ && edited.table().at(name).cost == Cost::rebuild)
            throw UsageError("source aravis: " + std::string(name) +
                             " cannot change while the camera runs; open it again.");
        const auto& now = edited.as<AravisParams>();
        if (camera_ && name == "exposure")
            set_exposure(now.exposure_ms);
        if (camera_ && name == "gain")
            set_gain(now.gain);
        asked_ = now;
        params_ = std::move(edited);
        if (camera_)
            read_back();
    }

private:
    GstGraph build() override {
        const AravisParams& params = asked_;
        const FormatRow& format = kFormats[static_cast<std::size_t>(params.format)];
        GstGraph graph{own(gst_pipeline_new(nullptr)), nullptr};
        const GstHandle<GstElement> camera = make_element("aravissrc", "libaravis-0.8-0");
        const GstHandle<GstElement> filter = make_element("capsfilter", "libgstreamer1.0-0");
        GObject* object = G_OBJECT(camera.get());
        if (!wanted_.empty())
            g_object_set(object, "camera-name", wanted_.c_str(), nullptr);
        if (params.exposure_ms > 0)
            g_object_set(object, "exposure", params.exposure_ms * 1000, nullptr);
        if (params.gain >= 0)
            g_object_set(object, "gain", params.gain, nullptr);
        if (params.packet_size > 0)
            g_object_set(object, "packet-size", params.packet_size, nullptr);
        else
            g_object_set(object, "auto-packet-size", TRUE, nullptr);
        if (format.genicam) // set last of all, so that it decides between the formats that share their caps
            g_object_set(object, "features", (std::string("PixelFormat=") + format.genicam).c_str(), nullptr);
        const GstHandle<GstCaps> caps(gst_caps_from_string(caps_text(params, format).c_str()));
        g_object_set(filter.get(), "caps", caps.get(), nullptr);
        GstTail tail = make_tail();
        add_and_link(graph.pipeline.get(), {camera.get(), filter.get(), tail.convert.get(), tail.sink.get()});
        source_ = camera.get();
        graph.sink = std::move(tail.sink);
        return graph;
    }

    static std::string caps_text(const AravisParams& params, const FormatRow& format) {
        std::string fields;
        if (params.width > 0)
            fields += ", width = " + std::to_string(params.width);
        if (params.height > 0)
            fields += ", height = " + std::to_string(params.height);
        if (params.rate > 0)
            fields += ", framerate = " + std::to_string(std::lround(params.rate * 1000)) + "/1000";
        std::string text;
        for (const char* choice : {"GRAY8", "GRAY16_LE", "RGB"}) // automatic: the first that the camera has
            if (!format.caps || std::string_view(choice) == format.caps)
                text += (text.empty() ? "" : "; ") + std::string("video/x-raw, format = ") + choice + fields;
        return text;
    }

    void opened(SourceInfo& info) override {
        ArvCamera* camera = nullptr;
        g_object_get(source_, "camera", &camera, nullptr);
        camera_.reset(camera);
        gaps_.restart();
        const auto text = [](const char* part) { return std::string(part ? part : ""); };
        set_name(text(arv_camera_get_vendor_name(camera, nullptr)) + " " +
                 text(arv_camera_get_model_name(camera, nullptr)) + " " +
                 text(arv_camera_get_device_serial_number(camera, nullptr)));
        full_scale_ = full_scale_of_camera(info.full_scale);
        info.full_scale = full_scale_;
        if (arv_camera_is_frame_rate_available(camera, nullptr))
            info.rate = arv_camera_get_frame_rate(camera, nullptr);
        swap_ = info.shape.type == PixelType::u16 && big_endian();
        read_back();
    }

    double full_scale_of_camera(double otherwise) const {
        const char* name = arv_camera_get_pixel_format_as_string(camera_.get(), nullptr);
        for (const FormatRow& row : kFormats)
            if (name && row.genicam && std::string_view(name) == row.genicam)
                return row.full_scale;
        return otherwise;
    }

    bool big_endian() const {
        if (asked_.byte_order != ByteOrder::automatic)
            return asked_.byte_order == ByteOrder::big;
        constexpr const char* kFeature = "DeviceStreamChannelEndianness";
        if (!arv_camera_is_feature_available(camera_.get(), kFeature, nullptr))
            return false;
        const char* order = arv_camera_get_string(camera_.get(), kFeature, nullptr);
        return order && std::string_view(order) == "Big";
    }

    void set_exposure(double exposure_ms) {
        if (exposure_ms <= 0)
            return;
        double low = 0;
        double high = 0;
        ask("source aravis: exposure", [&](GError** error) {
            arv_camera_get_exposure_time_bounds(camera_.get(), &low, &high, error);
            return 0;
        });
        check_bounds("exposure", exposure_ms, low / 1000, high / 1000);
        ask("source aravis: exposure", [&](GError** error) {
            arv_camera_set_exposure_time(camera_.get(), exposure_ms * 1000, error);
            return 0;
        });
    }

    void set_gain(double gain) {
        if (gain < 0)
            return;
        if (!arv_camera_is_gain_available(camera_.get(), nullptr))
            throw UsageError("source aravis: " + name() + " has no gain to set.");
        double low = 0;
        double high = 0;
        ask("source aravis: gain", [&](GError** error) {
            arv_camera_get_gain_bounds(camera_.get(), &low, &high, error);
            return 0;
        });
        check_bounds("gain", gain, low, high);
        ask("source aravis: gain", [&](GError** error) {
            arv_camera_set_gain(camera_.get(), gain, error);
            return 0;
        });
    }

    static void check_bounds(const char* what, double value, double low, double high) {
        if (low < high && (value < low || value > high))
            throw UsageError(std::string("source aravis: ") + what + " = " + std::to_string(value) +
                             " is not possible; this camera takes " + std::to_string(low) + "…" +
                             std::to_string(high) + ".");
    }

    /// The camera rounds what it is given: the options show what it made of it, the frames carry it.
    void read_back() {
        auto& params = params_.as<AravisParams>();
        if (arv_camera_is_exposure_time_available(camera_.get(), nullptr))
            params.exposure_ms = arv_camera_get_exposure_time(camera_.get(), nullptr) / 1000;
        if (arv_camera_is_gain_available(camera_.get(), nullptr))
            params.gain = arv_camera_get_gain(camera_.get(), nullptr);
    }

    void describe(FrameInfo& info) override {
        if (params_.as<AravisParams>().exposure_ms > 0)
            info.exposure_ms = params_.as<AravisParams>().exposure_ms;
        info.full_scale = full_scale_;
    }

    std::uint64_t lost_before(GstBuffer* buffer) override {
        // aravissrc leaves out the camera's frame numbers; its buffers carry the camera's own clock.
        return GST_BUFFER_PTS_IS_VALID(buffer)
                   ? gaps_.missing_before(static_cast<std::int64_t>(GST_BUFFER_PTS(buffer)))
                   : 0;
    }

    bool swap_bytes() const override { return swap_; }

    Status ended() override { throw RunError("The camera " + name() + " has stopped."); }

    std::string explain(const Failure& failure) const override {
        const bool absent = failure.is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND) ||
                            failure.is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ) ||
                            failure.is(ARV_DEVICE_ERROR, ARV_DEVICE_ERROR_NOT_FOUND);
        if (absent)
            return (wanted_.empty() ? std::string("No camera can be opened; ")
                                    : "The camera '" + wanted_ + "' cannot be opened; ") +
                   found_text() + ".";
        const bool silent = failure.is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED);
        return (wanted_.empty() && !camera_ ? std::string("The camera") : "The camera " + name()) +
               " gives no picture: " + (silent ? "it has stopped sending" : failure.reason) +
               "; check its cable, its power and that the format asked for is one that it has.";
    }

    std::string wanted_;
    AravisParams asked_; ///< without what the camera reported: what a reopened camera is set to
    std::unique_ptr<ArvCamera, ReleaseCamera> camera_; ///< while open; shared with the element
    GstElement* source_ = nullptr;                     ///< lives in the pipeline
    GapCounter gaps_;
    double full_scale_ = 0;
    bool swap_ = false;
};

std::unique_ptr<Source> make(const SourceText& text, const Params& params) {
    return std::make_unique<AravisSource>(text.target, params);
}

ParamTable declare() {
    using P = AravisParams;
    const auto rebuild = Cost::rebuild;
    return Declare<P>("source aravis")
        .real("exposure", &P::exposure_ms,
              {.unit = "ms", .min = 0, .max = 100000, .logarithmic = true, .doc = "0: as the camera is set"})
        .real("gain", &P::gain, {.unit = "dB", .min = -1, .max = 500, .doc = "-1: as the camera is set"})
        .real("rate", &P::rate,
              {.unit = "1/s", .min = 0, .max = kMaxRate, .cost = rebuild, .doc = "0: as the camera is set"})
        .choice(
            "format", &P::format, {"auto", "mono8", "mono10", "mono12", "mono14", "mono16"},
            {.cost = rebuild,
             .doc = "pixel format; auto: grey of 8 bits where the camera has it, else of 16, else colour"})
        .choice("byteorder", &P::byte_order, {"auto", "little", "big"},
                {.cost = rebuild,
                 .doc = "of 16-bit pixels; auto asks the camera, which is little where it does not say"})
        .integer("width", &P::width,
                 {.unit = "px", .min = 0, .max = kMaxSide, .cost = rebuild, .doc = "0: as the camera is set"})
        .integer("height", &P::height,
                 {.unit = "px", .min = 0, .max = kMaxSide, .cost = rebuild, .doc = "0: as the camera is set"})
        .integer("packet-size", &P::packet_size,
                 {.unit = "bytes",
                  .min = 0,
                  .max = 65500,
                  .cost = rebuild,
                  .doc = "on a GigE wire; 0: negotiated"})
        .table();
}

} // namespace

SourceType aravis_source_type() {
    static const ParamTable table = declare();
    return {.kind = "aravis",
            .syntax = "aravis[:NAME]",
            .doc = "a GigE Vision or USB3 Vision camera, by name, address or serial number",
            .table = &table,
            .make = make,
            .discover = discover};
}

} // namespace specklescope
