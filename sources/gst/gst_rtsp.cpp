// RTSP streams, through rtspsrc.
#include "base/error.hpp"
#include "base/source_argument.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/gst/gst_untrusted.hpp"
#include "sources/registry.hpp"

#include <array>

namespace specklescope {

namespace {

bool is_video(const GstCaps* caps) {
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
        const GstStructure* structure = gst_caps_get_structure(caps, i);
        const gchar* media = gst_structure_get_string(structure, "media");
        if (g_str_has_prefix(gst_structure_get_name(structure), "video/") ||
            (media && g_str_equal(media, "video")))
            return true;
    }
    return false;
}

/// Links a pad of rtspsrc to the decoder, and the decoder's to the converter: only the first video stream.
void link_first_video(GstElement*, GstPad* pad, gpointer next) {
    const GstHandle<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(next), "sink"));
    GstCaps* now = gst_pad_get_current_caps(pad);
    const GstHandle<GstCaps> caps(now ? now : gst_pad_query_caps(pad, nullptr));
    if (!gst_pad_is_linked(sink.get()) && is_video(caps.get()))
        gst_pad_link(pad, sink.get());
}

/// Only video streams are requested.
gboolean wants_stream(GstElement*, guint, GstCaps* caps, gpointer) { return is_video(caps); }

class RtspSource final : public GstSource {
public:
    RtspSource(std::string url, const Params& params)
        : GstSource(SourceArgument(url).shown()), url_(std::move(url)) {
        params_ = params;
    }

private:
    GstGraph build() override {
        const auto& params = params_.as<RtspParams>();
        GstGraph graph{own(gst_pipeline_new(nullptr)), nullptr};
        const GstHandle<GstElement> stream = make_element("rtspsrc", "gstreamer1.0-plugins-good");
        const GstHandle<GstElement> decoder = make_element("decodebin", "gstreamer1.0-plugins-base");
        constexpr std::array<const char*, 3> kTransports = {"tcp+udp", "udp", "tcp"};
        g_object_set(stream.get(), "location", url_.c_str(), "latency", static_cast<guint>(params.latency_ms),
                     nullptr);
        gst_util_set_object_arg(G_OBJECT(stream.get()), "protocols",
                                kTransports[static_cast<std::size_t>(params.transport)]);
        GstTail tail = make_tail();
        add_and_link(graph.pipeline.get(), {stream.get()});
        add_and_link(graph.pipeline.get(), {decoder.get()});
        add_and_link(graph.pipeline.get(), {tail.convert.get(), tail.sink.get()});
        allow_codecs_only(decoder.get(), true);
        g_signal_connect(stream.get(), "select-stream", G_CALLBACK(wants_stream), nullptr);
        g_signal_connect(stream.get(), "pad-added", G_CALLBACK(link_first_video), decoder.get());
        g_signal_connect(decoder.get(), "pad-added", G_CALLBACK(link_first_video), tail.convert.get());
        graph.sink = std::move(tail.sink);
        return graph;
    }

    std::chrono::milliseconds open_timeout() const override {
        return std::chrono::milliseconds(
            static_cast<std::int64_t>(params_.as<RtspParams>().timeout_s * 1000));
    }

    Status ended() override { throw RunError("The stream " + name() + " was ended by its server."); }

    std::string explain(const Failure& failure) const override {
        return "The stream " + name() + " delivers no frames: " + failure.reason +
               ". Check the address and the network.";
    }

    std::string url_;
};

std::unique_ptr<Source> make_rtsp(const SourceText& text, const Params& params) {
    if (!text.target.starts_with("rtsp://") && !text.target.starts_with("rtsps://"))
        throw UsageError("source rtsp: '" + SourceArgument(text.target).shown() +
                         "' is not an address. Give rtsp://HOST/PATH.");
    return std::make_unique<RtspSource>(text.target, params);
}

} // namespace

SourceType rtsp_source_type() {
    static const ParamTable table =
        Declare<RtspParams>("source rtsp")
            .integer("latency", &RtspParams::latency_ms,
                     {.unit = "ms", .min = 0, .max = 60000, .cost = Cost::rebuild, .doc = "Jitter buffer"})
            .choice("transport", &RtspParams::transport,
                    {{"auto", "Automatic"}, {"udp", "UDP"}, {"tcp", "TCP"}},
                    {.cost = Cost::rebuild, .doc = "Transport. auto: UDP first"})
            .real("timeout", &RtspParams::timeout_s,
                  {.unit = "s",
                   .min = 1,
                   .max = 600,
                   .cost = Cost::rebuild,
                   .doc = "Time to wait for the first frame"})
            .table();
    return {.kind = "rtsp",
            .syntax = "rtsp://HOST/PATH",
            .doc = "Network camera or server; the first video stream",
            .table = &table,
            .make = make_rtsp,
            .discover = nullptr};
}

} // namespace specklescope
