// Owners for GStreamer's reference-counted objects, for sources and recorders.
#pragma once

#include <gst/gst.h>

#include <future>
#include <memory>

namespace specklescope {

struct GstRelease {
    void operator()(GstElement* object) const { gst_object_unref(object); }
    void operator()(GstBufferPool* object) const { gst_object_unref(object); }
    void operator()(GstElementFactory* object) const { gst_object_unref(object); }
    void operator()(GstPluginFeature* object) const { gst_object_unref(object); }
    void operator()(GstBus* object) const { gst_object_unref(object); }
    void operator()(GstPad* object) const { gst_object_unref(object); }
    void operator()(GstMessage* object) const { gst_message_unref(object); }
    void operator()(GstCaps* object) const { gst_caps_unref(object); }
    void operator()(GstSample* object) const { gst_sample_unref(object); }
    void operator()(GError* object) const { g_error_free(object); }
    void operator()(gchar* object) const { g_free(object); }
};

template <class T> using GstHandle = std::unique_ptr<T, GstRelease>;

/// Takes ownership of a floating reference.
inline GstHandle<GstElement> own(GstElement* element) {
    return GstHandle<GstElement>(element ? GST_ELEMENT(gst_object_ref_sink(element)) : nullptr);
}
inline GstHandle<GstElement> share(GstElement* element) {
    return GstHandle<GstElement>(GST_ELEMENT(gst_object_ref(element)));
}

/// Calls gst_element_set_state() on a new thread, because GStreamer waits forever if the system gives it no
/// thread. The caller may drop the future early. Throws RunError if the new thread cannot be started.
std::future<GstStateChangeReturn> set_state_aside(GstElement* element, GstState state);

} // namespace specklescope
