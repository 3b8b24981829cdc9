#include "recording/outlet/planes.hpp"

#include "base/error.hpp"
#include "recording/video_color.hpp"

#include <gst/video/video.h>

namespace specklescope {

GstBuffer* make_planes(ConstHostView rgb) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_Y444, static_cast<guint>(rgb.shape.width),
                              static_cast<guint>(rgb.shape.height));
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE))
        throw RunError("There is no memory for a picture of " + to_string(rgb.shape) + ".");
    VideoPlanes planes;
    for (std::size_t i = 0; i < 3; ++i) {
        planes.data[i] = reinterpret_cast<std::byte*>(map.data) + info.offset[i];
        planes.pitch[i] = static_cast<std::size_t>(info.stride[i]);
    }
    to_video_planes(rgb, planes);
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

GstHandle<GstCaps> planes_caps(const Shape& shape) {
    return GstHandle<GstCaps>(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "Y444", "width",
                                                  G_TYPE_INT, shape.width, "height", G_TYPE_INT, shape.height,
                                                  "framerate", GST_TYPE_FRACTION, 0, 1, "colorimetry",
                                                  G_TYPE_STRING, "1:3:5:1", nullptr));
}

} // namespace specklescope
