// State changes of GStreamer elements on a separate thread.
#pragma once

#include <gst/gst.h>

#include <future>

namespace specklescope {

/// Calls gst_element_set_state() on a new thread, because GStreamer waits forever if the system gives it no
/// thread. The caller may drop the future early. Throws RunError if the new thread cannot be started.
std::future<GstStateChangeReturn> set_state_aside(GstElement* element, GstState state);

} // namespace specklescope
