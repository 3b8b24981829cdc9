#include "files/tone.hpp"

#include "files/gst_handles.hpp"
#include "files/gst_init.hpp"

#include <gst/gst.h>

namespace specklescope {

std::string play_tone() {
    init_gstreamer();
    GError* raw = nullptr;
    const GstHandle<GstElement> tone =
        own(gst_parse_launch("audiotestsrc num-buffers=16 freq=880 volume=0.4 ! audioconvert ! audioresample "
                             "! autoaudiosink",
                             &raw));
    if (const GstHandle<GError> error(raw); error || !tone)
        return error ? error->message : "GStreamer lacks an element";
    gst_element_set_state(tone.get(), GST_STATE_PLAYING);
    const GstHandle<GstBus> bus(gst_element_get_bus(tone.get()));
    const auto awaited =
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    const GstHandle<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 3 * GST_SECOND, awaited));
    gst_element_set_state(tone.get(), GST_STATE_NULL);
    if (!message)
        return "the sound device does not answer";
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS)
        return "";
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR)
        gst_message_parse_error(message.get(), &raw, nullptr);
    else // autoaudiosink found no device
        gst_message_parse_warning(message.get(), &raw, nullptr);
    const GstHandle<GError> error(raw);
    return error->message;
}

} // namespace specklescope
