// Starts of pipelines that nobody has to wait for.
#pragma once

#include <gst/gst.h>

#include <future>

namespace specklescope {

/// gst_element_set_state() on a thread of its own: GStreamer waits for ever for a thread that the system did
/// not give. The future may be dropped before it is ready. Throws RunError if there is no thread for it.
std::future<GstStateChangeReturn> set_state_aside(GstElement* element, GstState state);

} // namespace specklescope
