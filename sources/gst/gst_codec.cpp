#include "sources/gst/gst_codec.hpp"

#include "files/gst_handles.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace specklescope {

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
