#include "sources/gst/gst_reach.hpp"

#include "files/gst_handles.hpp"

#include <algorithm>
#include <array>
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

/// Those that read what they are given and open nothing. (libav's list has some that open files of their
/// own.)
constexpr std::array<std::string_view, 20> kContainers = {
    "matroskademux", "qtdemux",     "avidemux",    "oggdemux",    "flvdemux",
    "tsdemux",       "mpegpsdemux", "asfdemux",    "mxfdemux",    "dvdemux",
    "y4mdec",        "ivfparse",    "nuvdemux",    "wavparse",    "multipartdemux",
    "avdemux_gif",   "avdemux_gxf", "avdemux_nut", "avdemux_ivf", "avdemux_yuv4mpegpipe",
};

bool is_codec(GstElementFactory* factory, std::string_view media, bool packets) {
    const std::string_view klass = klass_of(factory);
    if (has(klass, "Adaptive"))
        return false;
    if (has(klass, "Demuxer"))
        return among(kContainers, name_of(factory)) || has(name_of(factory), "codecalphademux");
    if (has(klass, "Depayloader"))
        return packets;
    const bool picture = has(klass, "Video") || has(klass, "Image");
    return picture && (has(klass, "Codec/Decoder") || has(klass, "Codec/Parser")) &&
           !media.starts_with("image/svg"); // which names other files
}

// GstAutoplugSelectResult, which no header of GStreamer declares.
constexpr int kTry = 0, kSkip = 2;

int select_factory(GstElement* decodebin, GstPad*, GstCaps* caps, GstElementFactory* factory,
                   gpointer packets) {
    const std::string_view media =
        gst_caps_get_size(caps) > 0 ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    if (is_codec(factory, media, packets != nullptr))
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

/// Ask others and open no port of their own.
constexpr std::array<std::string_view, 8> kClients = {
    "rtspsrc", "tcpclientsrc", "souphttpsrc", "curlhttpsrc", "neonhttpsrc", "rtmpsrc", "rtmp2src", "shmsrc"};
constexpr std::array<std::string_view, 4> kHarmlessSinks = {"appsink", "fakesink", "fakevideosink",
                                                            "fakeaudiosink"};
/// Properties by which elements other than sources write files.
constexpr std::array<std::string_view, 6> kFileNames = {
    "location", "temp-template", "multipass-cache-file", "temp-location", "filename", "log-file"};

/// A text that was set to something else than its default.
bool names_a_file(GstElement* element, std::string_view property) {
    GParamSpec* spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(element), std::string(property).c_str());
    if (!spec || !G_IS_PARAM_SPEC_STRING(spec) || (spec->flags & G_PARAM_READABLE) == 0)
        return false;
    gchar* raw = nullptr;
    g_object_get(element, spec->name, &raw, nullptr);
    const GstHandle<gchar> value(raw);
    const gchar* usual = G_PARAM_SPEC_STRING(spec)->default_value;
    return value && *value && (!usual || std::string_view(usual) != value.get());
}

/// The ports of RTP are what rtspsrc was asked for.
bool within_rtspsrc(GstElement* element) {
    for (GstObject* parent = GST_OBJECT_PARENT(element); parent; parent = GST_OBJECT_PARENT(parent))
        if (GstElementFactory* factory =
                GST_IS_ELEMENT(parent) ? gst_element_get_factory(GST_ELEMENT(parent)) : nullptr;
            factory && name_of(factory) == "rtspsrc")
            return true;
    return false;
}

void hold_back(GstBin*, GstBin*, GstElement* element, gpointer pipeline) {
    const std::string reason = reaches_out(element);
    if (reason.empty())
        return;
    gst_element_set_locked_state(element, TRUE); // it stays as it is, and opens nothing
    GST_ELEMENT_ERROR(GST_ELEMENT(pipeline), RESOURCE, NOT_AUTHORIZED,
                      ("%s, which a gst: text may only with --trust", reason.c_str()), (nullptr));
}

} // namespace

void allow_codecs_only(GstElement* decodebin, bool packets) {
    g_signal_connect(decodebin, "autoplug-select", G_CALLBACK(select_factory), packets ? decodebin : nullptr);
}

std::string reaches_out(GstElement* element) {
    GstElementFactory* factory = gst_element_get_factory(element);
    if (!factory || within_rtspsrc(element))
        return {};
    const std::string name(name_of(factory));
    const std::string_view klass = klass_of(factory);
    const bool source = has(klass, "Source");
    const bool sink = has(klass, "Sink") || name.ends_with("sink") ||
                      (!GST_IS_BIN(element) && GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK));
    if (sink && !among(kHarmlessSinks, name))
        return name + " writes";
    if (source && has(klass, "Network") && !among(kClients, name))
        return name + " listens";
    if (!source)
        for (const std::string_view property : kFileNames)
            if (names_a_file(element, property))
                return name + " names a file (" + std::string(property) + ")";
    return {};
}

std::string any_reaches_out(GstElement* bin) {
    GstIterator* const elements = gst_bin_iterate_recurse(GST_BIN(bin));
    GValue item = G_VALUE_INIT;
    std::string reason;
    while (reason.empty() && gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        reason = reaches_out(GST_ELEMENT(g_value_get_object(&item)));
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
    return reason;
}

void hold_back_what_reaches_out(GstElement* bin) {
    g_signal_connect(bin, "deep-element-added", G_CALLBACK(hold_back), bin);
}

} // namespace specklescope
