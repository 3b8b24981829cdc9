#include "sources/gst/gst_reach.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace specklescope {

namespace {

template <std::size_t N> bool among(const std::array<std::string_view, N>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view klass_of(GstElementFactory* factory) {
    const gchar* klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
    return klass ? klass : "";
}

std::string_view name_of(GstElementFactory* factory) {
    const gchar* name = gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory));
    return name ? name : "";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Demuxers that only read their input. (libav's list contains some that open other files.)
constexpr std::array<std::string_view, 20> kContainers = {
    "matroskademux", "qtdemux",     "avidemux",    "oggdemux",    "flvdemux",
    "tsdemux",       "mpegpsdemux", "asfdemux",    "mxfdemux",    "dvdemux",
    "y4mdec",        "ivfparse",    "nuvdemux",    "wavparse",    "multipartdemux",
    "avdemux_gif",   "avdemux_gxf", "avdemux_nut", "avdemux_ivf", "avdemux_yuv4mpegpipe",
};

bool decodes(GstElementFactory* factory, std::string_view media, bool packets) {
    const std::string_view klass = klass_of(factory);
    if (has(klass, "Adaptive"))
        return false;
    if (has(klass, "Demuxer"))
        return among(kContainers, name_of(factory)) || has(name_of(factory), "codecalphademux");
    if (has(klass, "Depayloader"))
        return packets;
    const bool picture = has(klass, "Video") || has(klass, "Image");
    return picture && (has(klass, "Codec/Decoder") || has(klass, "Codec/Parser")) &&
           !media.starts_with("image/svg"); // it may refer to other files
}

// GstAutoplugSelectResult, which is not declared in GStreamer's headers.
constexpr int kTry = 0, kSkip = 2;

int select_factory(GstElement* decodebin, GstPad*, GstCaps* caps, GstElementFactory* factory,
                   gpointer packets) {
    const std::string_view media =
        gst_caps_get_size(caps) > 0 ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    if (decodes(factory, media, packets != nullptr))
        return kTry;
    if (has(klass_of(factory), "Demuxer"))
        GST_ELEMENT_ERROR(
            decodebin, STREAM, WRONG_TYPE,
            ("it is of type %s, which is not among the containers that are read: what names other "
             "files or addresses is not followed",
             std::string(media).c_str()),
            (nullptr));
    return kSkip;
}

} // namespace

void allow_codecs_only(GstElement* decodebin, bool packets) {
    g_signal_connect(decodebin, "autoplug-select", G_CALLBACK(select_factory), packets ? decodebin : nullptr);
}

bool is_codec(GstElementFactory* factory) { return decodes(factory, "", true); }

} // namespace specklescope
