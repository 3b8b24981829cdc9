// GStreamer's video formats as our shapes, and the copy from a GstBuffer into a slot.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/image.hpp"

#include <gst/video/video.h>

#include <string>

namespace specklescope {

/// Memory layout of frames with one set of caps, and their conversion.
struct PixelLayout {
    GstVideoInfo info{};
    Shape shape;
    bool swap = false; ///< 16-bit words have the other byte order than this machine

    /// True if the bytes have the order of a slot: only the row pitch may differ.
    bool as_in_slot() const;
};

/// Formats that slots can hold without loss, best first: for the appsink's caps.
GstHandle<GstCaps> accepted_caps();
/// Format for colours with more than 8 bits: 16 bits per channel.
GstHandle<GstCaps> deep_caps();
/// Throws RunError naming the format if it is not supported.
PixelLayout layout_of(const GstCaps* caps, const std::string& name);
/// Copies once, using the buffer's own strides (GstVideoMeta). `to` must have the layout's shape. Throws
/// RunError if the buffer is smaller than its caps require.
void copy_buffer(GstBuffer* buffer, const PixelLayout& layout, HostView to, const std::string& name);

} // namespace specklescope
