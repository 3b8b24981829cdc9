#include "sources/gst/gst_index.hpp"

#include "base/long_work.hpp"
#include "files/gst_handles.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_closer.hpp"
#include "sources/gst/gst_container.hpp"
#include "sources/gst/gst_untrusted.hpp"

#include <gst/app/gstappsink.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

using std::chrono::milliseconds;

using FactoryList = std::unique_ptr<GList, decltype(&gst_plugin_feature_list_free)>;

/// Stops before decoders: the packets there are complete.
gboolean is_container(GstElement*, GstPad*, GstCaps* caps, gpointer) {
    const FactoryList decoders(
        gst_element_factory_list_get_elements(GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL),
        gst_plugin_feature_list_free);
    GList* fitting = gst_element_factory_list_filter(decoders.get(), caps, GST_PAD_SINK, FALSE);
    bool coded = false;
    for (GList* at = fitting; at; at = at->next)
        coded = coded || !gst_element_factory_list_is_type(GST_ELEMENT_FACTORY(at->data),
                                                           GST_ELEMENT_FACTORY_TYPE_DEMUXER);
    gst_plugin_feature_list_free(fitting);
    return coded ? FALSE : TRUE;
}

void link_pictures(GstElement*, GstPad* pad, gpointer sink) {
    const GstHandle<GstPad> into(gst_element_get_static_pad(GST_ELEMENT(sink), "sink"));
    GstCaps* now = gst_pad_get_current_caps(pad);
    const GstHandle<GstCaps> caps(now ? now : gst_pad_query_caps(pad, nullptr));
    const gchar* name = gst_caps_get_size(caps.get()) > 0
                            ? gst_structure_get_name(gst_caps_get_structure(caps.get(), 0))
                            : "";
    const bool pictures = g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/");
    if (pictures && !gst_pad_is_linked(into.get()))
        gst_pad_link(pad, into.get());
}

/// Stops the pipeline on destruction.
struct Running {
    GstHandle<GstElement> pipeline;
    std::string key;
    ~Running() { retire_pipeline(std::move(pipeline), key, milliseconds(500)); }
};

bool failed(GstElement* pipeline) {
    const GstHandle<GstBus> bus(gst_element_get_bus(pipeline));
    return GstHandle<GstMessage>(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR)) != nullptr;
}

/// Changes these edits to end with their track, as read by GStreamer.
GstPadProbeReturn widen_edits(GstPad*, GstPadProbeInfo* info, gpointer edits) {
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    for (const EditDuration& edit : *static_cast<const std::vector<EditDuration>*>(edits))
        for (std::uint64_t place = edit.place; place < edit.place + static_cast<std::uint64_t>(edit.bytes);
             ++place)
            if (place >= info->offset && place - info->offset < gst_buffer_get_size(buffer))
                gst_buffer_memset(buffer, place - info->offset, 0, 1);
    return GST_PAD_PROBE_OK;
}

} // namespace

void show_whole_edits(GstElement* file, const std::string& path) {
    auto edits = std::make_unique<std::vector<EditDuration>>(whole_edits(path));
    if (edits->empty())
        return;
    const GstHandle<GstPad> pad(gst_element_get_static_pad(file, "src"));
    gst_pad_add_probe(
        pad.get(), static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_PULL | GST_PAD_PROBE_TYPE_BUFFER),
        widen_edits, edits.release(),
        [](gpointer owned) { delete static_cast<std::vector<EditDuration>*>(owned); }); // NOLINT: GLib's way
}

PacketIndex packet_index(const std::string& path) {
    constexpr GstClockTime kPoll = 50 * GST_MSECOND;
    constexpr int kSilent = 200; // polls without a packet: it never ends
    Running running{own(gst_pipeline_new(nullptr)), "the index of " + path};
    const GstHandle<GstElement> file = make_element("filesrc", "libgstreamer1.0-0");
    const GstHandle<GstElement> parts = make_element("decodebin", "gstreamer1.0-plugins-base");
    const GstHandle<GstElement> sink = make_element("appsink", "gstreamer1.0-plugins-base");
    g_object_set(file.get(), "location", path.c_str(), nullptr);
    g_object_set(sink.get(), "sync", FALSE, "max-buffers", 256U, "enable-last-sample", FALSE, nullptr);
    show_whole_edits(file.get(), path);
    add_and_link(running.pipeline.get(), {file.get(), parts.get()});
    gst_bin_add(GST_BIN(running.pipeline.get()), sink.get());
    allow_codecs_only(parts.get());
    g_signal_connect(parts.get(), "autoplug-continue", G_CALLBACK(is_container), nullptr);
    g_signal_connect(parts.get(), "pad-added", G_CALLBACK(link_pictures), sink.get());
    gst_element_set_state(running.pipeline.get(), GST_STATE_PLAYING);
    auto* packets = GST_APP_SINK(sink.get());
    PacketIndex index;
    std::vector<std::int64_t>& times = index.times;
    for (int silent = 0;;) {
        work_goes_on("looking for the frames of " + path);
        const GstHandle<GstSample> sample(gst_app_sink_try_pull_sample(packets, kPoll));
        if (!sample) {
            if (gst_app_sink_is_eos(packets) || failed(running.pipeline.get()))
                break;
            if (++silent == kSilent)
                return {};
            continue;
        }
        silent = 0;
        const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
        if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER) &&
            !GST_BUFFER_PTS_IS_VALID(buffer)) // belongs to the next packet
            continue;
        if (GST_BUFFER_FLAG_IS_SET(buffer,
                                   // never shown, only used for decoding others
                                   GST_BUFFER_FLAG_DECODE_ONLY))
            continue;
        const std::optional<std::int64_t> time = stream_time(sample.get());
        if (!time)
            return {};
        times.push_back(*time);
        index.all_keys = index.all_keys && !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    }
    const std::vector<std::int64_t> stored = times;
    std::sort(times.begin(), times.end());
    if (std::adjacent_find(times.begin(), times.end()) != times.end())
        return {};
    // Frames are stored at most this far from their position; wrong times are further off.
    constexpr std::size_t kReach = 16;
    for (std::size_t i = 0; i < times.size(); ++i)
        if (stored[i] < times[i - std::min(i, kReach)] ||
            stored[i] > times[std::min(i + kReach, times.size() - 1)])
            return {};
    return index;
}

Demuxer demuxer_of(GstElement* pipeline) {
    static constexpr std::array<std::pair<std::string_view, Demuxer>, 9> kDemuxers = {{
        {"matroskademux", Demuxer::exact},
        {"qtdemux", Demuxer::exact},
        {"oggdemux", Demuxer::exact},
        {"tsdemux", Demuxer::exact},
        {"mxfdemux", Demuxer::exact},
        {"avidemux", Demuxer::keys_only},
        {"asfdemux", Demuxer::timed},      // begins at the key frame after the place
        {"flvdemux", Demuxer::timed},      // sometimes begins at no key frame
        {"mpegpsdemux", Demuxer::unknown}, // some packets contain two frames
    }};
    GstIterator* const elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
    GValue item = G_VALUE_INIT;
    Demuxer found = Demuxer::timed;
    while (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        GstElementFactory* factory = gst_element_get_factory(GST_ELEMENT(g_value_get_object(&item)));
        const gchar* name = factory ? gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory)) : nullptr;
        for (const auto& [demuxer, trust] : kDemuxers)
            if (name && demuxer == name)
                found = trust;
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
    return found;
}

} // namespace specklescope
