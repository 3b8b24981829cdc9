#include "recording/video/planes.hpp"

#include "base/error.hpp"

#include <gst/video/video.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace specklescope {

namespace {
constexpr int kShift = 16;
constexpr std::int32_t fixed(double value) {
    return static_cast<std::int32_t>(value * (1 << kShift) + (value < 0 ? -0.5 : 0.5));
}

struct Row {
    std::int32_t red, green, blue, offset;
    std::byte operator()(std::int32_t r, std::int32_t g, std::int32_t b) const {
        const std::int32_t sum = red * r + green * g + blue * b + offset + (1 << (kShift - 1));
        return static_cast<std::byte>(std::clamp(sum >> kShift, 0, 255));
    }
};

struct Rows {
    Row luma, blue_difference, red_difference;
};
/// `red`, `blue`: weights in luma, which has `luma` steps above `black`; differences have `chroma` steps.
constexpr Rows rows(double red, double blue, double black, double luma, double chroma) {
    const double green = 1 - red - blue, y = luma / 255, c = chroma / 255;
    return {{fixed(red * y), fixed(green * y), fixed(blue * y), fixed(black)},
            {fixed(-red / (2 * (1 - blue)) * c), fixed(-green / (2 * (1 - blue)) * c), fixed(0.5 * c),
             128 << kShift},
            {fixed(0.5 * c), fixed(-green / (2 * (1 - red)) * c), fixed(-blue / (2 * (1 - red)) * c),
             128 << kShift}};
}
constexpr Rows kBt709Full = rows(0.2126, 0.0722, 0, 255, 255);
constexpr Rows kBt709Limited = rows(0.2126, 0.0722, 16, 219, 224);
constexpr Rows kBt601Full = rows(0.299, 0.114, 0, 255, 255);
constexpr Rows kBt601Limited = rows(0.299, 0.114, 16, 219, 224);
} // namespace

void to_video_planes(ConstHostView rgb, const VideoPlanes& planes, VideoColors colors) {
    const Rows& rows = colors == VideoColors::bt709_full      ? kBt709Full
                       : colors == VideoColors::bt709_limited ? kBt709Limited
                       : colors == VideoColors::bt601_full    ? kBt601Full
                                                              : kBt601Limited;
    for (int y = 0; y < rgb.shape.height; ++y) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(rgb.row(y));
        const auto row = static_cast<std::size_t>(y);
        std::byte* luma = planes.data[0] + row * planes.pitch[0];
        std::byte* blue = planes.data[1] + row * planes.pitch[1];
        std::byte* red = planes.data[2] + row * planes.pitch[2];
        for (int x = 0; x < rgb.shape.width; ++x, from += 3) {
            luma[x] = rows.luma(from[0], from[1], from[2]);
            blue[x] = rows.blue_difference(from[0], from[1], from[2]);
            red[x] = rows.red_difference(from[0], from[1], from[2]);
        }
    }
}

namespace {

GstVideoInfo video_info(const Shape& shape, Chroma chroma) {
    const int odd = chroma == Chroma::halved ? 1 : 0;
    GstVideoInfo info;
    gst_video_info_set_format(&info, chroma == Chroma::halved ? GST_VIDEO_FORMAT_I420 : GST_VIDEO_FORMAT_Y444,
                              static_cast<guint>(shape.width + (shape.width & odd)),
                              static_cast<guint>(shape.height + (shape.height & odd)));
    return info;
}

/// Mean of blocks of `step` × `step`; the last column and row are repeated beyond the edge.
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

GstCaps* planes_caps(const Shape& shape, Chroma chroma) {
    const GstVideoInfo info = video_info(shape, chroma);
    return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                               gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), "width", G_TYPE_INT,
                               info.width, "height", G_TYPE_INT, info.height, "framerate", GST_TYPE_FRACTION,
                               0, 1, "colorimetry", G_TYPE_STRING, "1:4:5:1", nullptr);
}

} // namespace specklescope
