// Pictures of the screen as buffers of GStreamer.
#pragma once

#include "files/gst_handles.hpp"
#include "recording/outlet/outlet.hpp"
#include "recording/record_file.hpp"
#include "recording/video_color.hpp"

namespace specklescope {

/// By default full range, BT.601, which is the one matrix that every client assumes or obeys. With 4:2:0 the
/// size is even: the last column and row are repeated where they have to be. Throws RunError without memory.
GstBuffer* make_planes(ConstHostView rgb, Chroma chroma = Chroma::full,
                       VideoColors colors = VideoColors::bt601_full);
/// Caps of make_planes() at any frame rate.
GstHandle<GstCaps> planes_caps(const Shape& shape, Chroma chroma = Chroma::full);

} // namespace specklescope
