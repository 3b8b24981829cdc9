#include "recording/outlet/planes.hpp"

#include "base/error.hpp"

#include <gst/video/video.h>

#include <algorithm>
#include <vector>

namespace specklescope {

namespace {

GstVideoInfo video_info(const Shape& shape, Chroma chroma) {
    const int odd = chroma == Chroma::halved ? 1 : 0;
    GstVideoInfo info;
    gst_video_info_set_format(&info, chroma == Chroma::halved ? GST_VIDEO_FORMAT_I420 : GST_VIDEO_FORMAT_Y444,
                              static_cast<guint>(shape.width + (shape.width & odd)),
                              static_cast<guint>(shape.height + (shape.height & odd)));
    return info;
}

/// Mean over blocks of `step` × `step`; the last column and row are repeated beyond the edge.
void shrink(const std::byte* from, const Shape& shape, int step, VideoPlanes& planes, std::size_t plane,
            int width, int height) {
    const int area = step * step;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int sum = area / 2;
            for (int i = 0; i < area; ++i) {
                const int at_x = std::min(x * step + i % step, shape.width - 1);
                const int at_y = std::min(y * step + i / step, shape.height - 1);
                sum += std::to_integer<int>(
                    from[static_cast<std::size_t>(at_y) * static_cast<std::size_t>(shape.width) +
                         static_cast<std::size_t>(at_x)]);
            }
            planes.data[plane][static_cast<std::size_t>(y) * planes.pitch[plane] +
                               static_cast<std::size_t>(x)] = static_cast<std::byte>(sum / area);
        }
}

} // namespace

GstBuffer* make_planes(ConstHostView rgb, Chroma chroma, VideoColors colors) {
    const GstVideoInfo info = video_info(rgb.shape, chroma);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE))
        throw RunError("There is not enough memory for an image of " + to_string(rgb.shape) + ".");
    VideoPlanes planes;
    for (std::size_t i = 0; i < 3; ++i) {
        planes.data[i] = reinterpret_cast<std::byte*>(map.data) + info.offset[i];
        planes.pitch[i] = static_cast<std::size_t>(info.stride[i]);
    }
    if (chroma == Chroma::full) {
        to_video_planes(rgb, planes, colors);
    } else {
        const auto width = static_cast<std::size_t>(rgb.shape.width);
        const std::size_t pixels = width * static_cast<std::size_t>(rgb.shape.height);
        std::vector<std::byte> whole(3 * pixels);
        to_video_planes(rgb,
                        {.data = {whole.data(), whole.data() + pixels, whole.data() + 2 * pixels},
                         .pitch = {width, width, width}},
                        colors);
        for (std::size_t i = 0; i < 3; ++i)
            shrink(whole.data() + i * pixels, rgb.shape, i == 0 ? 1 : 2, planes, i,
                   GST_VIDEO_INFO_COMP_WIDTH(&info, i), GST_VIDEO_INFO_COMP_HEIGHT(&info, i));
    }
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

GstHandle<GstCaps> planes_caps(const Shape& shape, Chroma chroma) {
    const GstVideoInfo info = video_info(shape, chroma);
    return GstHandle<GstCaps>(gst_caps_new_simple(
        "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)),
        "width", G_TYPE_INT, info.width, "height", G_TYPE_INT, info.height, "framerate", GST_TYPE_FRACTION, 0,
        1, "colorimetry", G_TYPE_STRING, "1:4:5:1", nullptr));
}

} // namespace specklescope
