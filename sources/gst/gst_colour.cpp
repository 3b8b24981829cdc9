#include "sources/gst/gst_colour.hpp"

#include "files/gst_handles.hpp"
#include "sources/gst/gst_slots.hpp"

#include <gst/app/gstappsink.h>
#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

constexpr const char* kSeen = "specklescope-colours";
constexpr int kStandardRows = 576; ///< maximum of standard definition

struct Seen {
    std::mutex mutex;
    std::string container; ///< colorimetry of the container, if the stream has priority
    std::vector<std::string> notes, all;
    Assumptions assumed;

    void note(const std::string& text) {
        const std::scoped_lock lock(mutex);
        if (std::find(all.begin(), all.end(), text) != all.end())
            return;
        all.push_back(text);
        notes.push_back(text);
    }
};
using SharedSeen = std::shared_ptr<Seen>;

void let_go(gpointer seen) { delete static_cast<SharedSeen*>(seen); } // NOLINT: GLib's ownership convention

SharedSeen seen_of(GstElement* sink) {
    auto* seen = static_cast<SharedSeen*>(g_object_get_data(G_OBJECT(sink), kSeen));
    if (!seen) {
        seen = new SharedSeen(std::make_shared<Seen>()); // NOLINT: as above
        g_object_set_data_full(G_OBJECT(sink), kSeen, seen, let_go);
    }
    return *seen;
}

GstVideoColorimetry colorimetry_of(const char* text) {
    GstVideoColorimetry out{};
    if (!text || !gst_video_colorimetry_from_string(&out, text))
        out = {};
    return out;
}

/// Caps with both a range and a matrix, since GStreamer ignores one without the other.
GstHandle<GstCaps> completed(const GstCaps* caps, const GstVideoInfo& video, Seen& seen) {
    GstVideoColorimetry colours =
        colorimetry_of(gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry"));
    GstVideoColorimetry container{};
    {
        const std::scoped_lock lock(seen.mutex);
        container = colorimetry_of(seen.container.c_str());
    }
    Assumptions assumed;
    const int rows = GST_VIDEO_INFO_HEIGHT(&video);
    if (colours.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
        colours.range = container.range;
    if (colours.range == GST_VIDEO_COLOR_RANGE_UNKNOWN) {
        colours.range = GST_VIDEO_COLOR_RANGE_16_235;
        assumed.range = true;
        seen.note("does not state the range of its values: 16…235 is assumed, as other players do.");
    }
    if (colours.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN)
        colours.matrix = container.matrix;
    if (colours.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN || colours.matrix == GST_VIDEO_COLOR_MATRIX_RGB) {
        assumed.matrix = true;
        colours.matrix = rows > kStandardRows ? GST_VIDEO_COLOR_MATRIX_BT709 : GST_VIDEO_COLOR_MATRIX_BT601;
    }
    {
        const std::scoped_lock lock(seen.mutex);
        seen.assumed = assumed;
    }
    const GstHandle<gchar> text(gst_video_colorimetry_to_string(&colours));
    GstCaps* out = gst_caps_copy(caps);
    gst_caps_set_simple(out, "colorimetry", G_TYPE_STRING, text.get(), nullptr);
    return GstHandle<GstCaps>(out);
}

void replace_caps(GstPadProbeInfo* info, GstCaps* caps) {
    GstEvent* event = gst_event_new_caps(caps);
    gst_event_set_seqnum(event, gst_event_get_seqnum(GST_PAD_PROBE_INFO_EVENT(info)));
    gst_event_unref(GST_PAD_PROBE_INFO_EVENT(info));
    GST_PAD_PROBE_INFO_DATA(info) = event;
}

struct Watched {
    SharedSeen seen;
    GstElement* sink; ///< outlives the pad: both are in one pipeline
};

void note_orientation(GstTagList* tags, Seen& seen) {
    gchar* raw = nullptr;
    if (!gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &raw))
        return;
    const GstHandle<gchar> turned(raw);
    if (std::string(turned.get()) != "rotate-0")
        seen.note("asks for a rotation (" + std::string(turned.get()) +
                  "), which is not applied. Use the stages rotate90 and flip.");
}

GstPadProbeReturn on_event(GstPad*, GstPadProbeInfo* info, gpointer data) {
    const auto& watched = *static_cast<const Watched*>(data);
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
        GstTagList* tags = nullptr;
        gst_event_parse_tag(event, &tags);
        note_orientation(tags, *watched.seen);
    }
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
        return GST_PAD_PROBE_OK;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    GstVideoInfo video{};
    if (!gst_video_info_from_caps(&video, caps))
        return GST_PAD_PROBE_OK;
    const guint bits = GST_VIDEO_FORMAT_INFO_DEPTH(video.finfo, 0);
    const bool deep = bits > 8 && !GST_VIDEO_INFO_IS_GRAY(&video);
    const bool yuv = GST_VIDEO_INFO_IS_YUV(&video);
    const GstHandle<GstCaps> accepted = yuv ? yuv_caps(bits) : deep ? deep_caps() : accepted_caps();
    gst_app_sink_set_caps(GST_APP_SINK(watched.sink), accepted.get());
    if (GST_VIDEO_INFO_IS_GRAY(&video) && video.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235)
        watched.seen->note("states 16…235 for its grey values, or no range: they are left unchanged.");
    if (yuv)
        replace_caps(info, completed(caps, video, *watched.seen).get());
    return GST_PAD_PROBE_OK;
}

/// Removes the container's colorimetry from a parser's caps.
GstPadProbeReturn on_caps_of_container(GstPad*, GstPadProbeInfo* info, gpointer data) {
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
        return GST_PAD_PROBE_OK;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
    if (!text)
        return GST_PAD_PROBE_OK;
    auto& seen = **static_cast<SharedSeen*>(data);
    {
        const std::scoped_lock lock(seen.mutex);
        seen.container = text;
    }
    const GstHandle<GstCaps> bare(gst_caps_copy(caps));
    gst_structure_remove_field(gst_caps_get_structure(bare.get(), 0), "colorimetry");
    replace_caps(info, bare.get());
    return GST_PAD_PROBE_OK;
}

void on_element(GstBin*, GstBin*, GstElement* element, gpointer sink) {
    GstElementFactory* factory = gst_element_get_factory(element);
    const std::string name = factory ? gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory)) : "";
    if (name != "h264parse" && name != "h265parse")
        return;
    const GstHandle<GstPad> pad(gst_element_get_static_pad(element, "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_caps_of_container,
                      new SharedSeen(seen_of(GST_ELEMENT(sink))), let_go); // NOLINT: as above
}

} // namespace

void obey_colours(GstElement* convert, GstElement* sink) {
    const GstHandle<GstPad> pad(gst_element_get_static_pad(convert, "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event,
                      new Watched{seen_of(sink), sink},                                 // NOLINT: as above
                      [](gpointer watched) { delete static_cast<Watched*>(watched); }); // NOLINT: as above
}

void prefer_colours_of_streams(GstElement* pipeline, GstElement* sink) {
    g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_element), sink);
}

std::vector<std::string> take_colour_notes(GstElement* sink) {
    const SharedSeen seen = seen_of(sink);
    const std::scoped_lock lock(seen->mutex);
    return std::exchange(seen->notes, {});
}

Assumptions colour_assumptions(GstElement* sink) {
    const SharedSeen seen = seen_of(sink);
    const std::scoped_lock lock(seen->mutex);
    return seen->assumed;
}

namespace {

/// By GStreamer's media type, without lossless codecs (FFV1, PNG, Huffyuv).
constexpr std::array<std::pair<std::string_view, const char*>, 21> kLossy = {{
    {"image/jpeg", "MJPEG"},         {"video/x-h264", "H.264"},
    {"video/x-h265", "H.265"},       {"video/x-h263", "H.263"},
    {"video/mpeg", "MPEG"},          {"video/x-vp8", "VP8"},
    {"video/x-vp9", "VP9"},          {"video/x-av1", "AV1"},
    {"video/x-theora", "Theora"},    {"video/x-wmv", "WMV"},
    {"video/x-divx", "DivX"},        {"video/x-xvid", "Xvid"},
    {"video/x-msmpeg", "MS-MPEG-4"}, {"video/x-dv", "DV"},
    {"video/x-prores", "ProRes"},    {"video/x-cineform", "CineForm"},
    {"video/x-dnxhd", "DNxHD"},      {"video/x-flash-video", "Sorenson"},
    {"video/x-svq", "Sorenson"},     {"video/x-pn-realvideo", "RealVideo"},
    {"image/x-jpc", "JPEG 2000"},
}};

const char* lossy_input(GstElement* element) {
    const GstHandle<GstPad> pad(gst_element_get_static_pad(element, "sink"));
    const GstHandle<GstCaps> caps(pad ? gst_pad_get_current_caps(pad.get()) : nullptr);
    if (!caps || gst_caps_get_size(caps.get()) == 0)
        return nullptr;
    const std::string_view type = gst_structure_get_name(gst_caps_get_structure(caps.get(), 0));
    for (const auto& [media, name] : kLossy)
        if (media == type)
            return name;
    return nullptr;
}

bool is_decoder(GstElement* element) {
    const gchar* kind = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
    return kind && std::string_view(kind).find("Decoder") != std::string_view::npos;
}

} // namespace

std::string lossy_codec(GstElement* bin) {
    GstIterator* const elements = gst_bin_iterate_recurse(GST_BIN(bin));
    GValue item = G_VALUE_INIT;
    std::string codec;
    while (codec.empty() && gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        auto* const element = GST_ELEMENT(g_value_get_object(&item));
        const char* const name = is_decoder(element) ? lossy_input(element) : nullptr;
        codec = name ? name : "";
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
    return codec;
}

} // namespace specklescope
