// GStreamer's video formats as our shapes, and the one copy from a GstBuffer into a slot.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/image.hpp"

#include <gst/video/video.h>

#include <string>

namespace specklescope {

/// How the frames of one set of caps lie in memory and what becomes of them.
struct PixelLayout {
    GstVideoInfo info{};
    Shape shape;
    bool swap = false; ///< 16-bit words in the other byte order than this machine's

    /// Bytes in the order of a slot's: only the distance of the rows may differ.
    bool as_in_slot() const;
};

/// The formats that a slot can take without loss, best first: for the appsink's caps.
GstHandle<GstCaps> accepted_caps();
/// The format for colours of more than 8 bits: 16 bits a channel.
GstHandle<GstCaps> deep_caps();
/// Throws RunError naming the format if it is none of those.
PixelLayout layout_of(const GstCaps* caps, const std::string& name);
/// Copies once, honouring the buffer's own strides (GstVideoMeta). `to` has the layout's shape.
/// Throws RunError if the buffer is smaller than its caps say.
void copy_buffer(GstBuffer* buffer, const PixelLayout& layout, HostView to, const std::string& name);

} // namespace specklescope
