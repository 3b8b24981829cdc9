// Whole pipelines.
#pragma once

#include "tests/gst/harness.hpp"

namespace element {

/// Runs a pipeline to its end; returns the first error, or "".
inline std::string run(const std::string& text) {
    GError* raw = nullptr;
    GstElement* const pipeline =
        gst_parse_launch_full(text.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw);
    if (!pipeline) {
        const std::string said = raw->message;
        g_error_free(raw);
        return said;
    }
    std::string said;
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus* const bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
    if (!message) {
        said = "neither an end nor an error within a minute";
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &raw, nullptr);
        said = raw->message;
        g_error_free(raw);
    }
    gst_clear_message(&message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    return said;
}

} // namespace element
