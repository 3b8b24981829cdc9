// Pictures of the screen as buffers of GStreamer.
#pragma once

#include "files/gst_handles.hpp"
#include "recording/record_file.hpp"

namespace specklescope {

/// Y444, full range, BT.709, as to_video_planes() makes it; throws RunError without memory.
GstBuffer* make_planes(ConstHostView rgb);
/// What make_planes() gives, as caps of any frame rate.
GstHandle<GstCaps> planes_caps(const Shape& shape);

} // namespace specklescope
