#include "sources/gst/gst_slots.hpp"

#include "base/error.hpp"
#include "sources/gst/simd/yuv_rows.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace specklescope {

namespace {

/// Formats that slots can hold, first: videoconvert converts everything else to one of these, directly into a
/// slot. Second, formats that the copy into a slot converts faster than videoconvert. For 32-bit pixels
/// videoconvert is faster.
constexpr const char* kCaps = "video/x-raw, format = { GRAY8, GRAY16_LE, RGB };"
                              "video/x-raw, format = { GRAY16_BE, BGR, GBR }";
/// For RGB with more than 8 bits. GStreamer has no format with three 16-bit channels, so that alpha is
/// the fourth.
constexpr const char* kDeepCaps = std::endian::native == std::endian::little
                                      ? "video/x-raw, format = RGBA64_LE"
                                      : "video/x-raw, format = RGBA64_BE";

bool is_grey(GstVideoFormat format) {
    return format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_LE ||
           format == GST_VIDEO_FORMAT_GRAY16_BE;
}

void copy_swapped(const std::byte* from, std::byte* to, int width) {
    for (int x = 0; x < width; ++x) {
        to[2 * x] = from[2 * x + 1];
        to[2 * x + 1] = from[2 * x];
    }
}

/// Unmaps on destruction.
class MappedFrame {
public:
    MappedFrame(GstBuffer* buffer, const GstVideoInfo& info)
        : mapped_(gst_video_frame_map(&frame_, &info, buffer, GST_MAP_READ)) {}
    ~MappedFrame() {
        if (mapped_)
            gst_video_frame_unmap(&frame_);
    }
    MappedFrame(const MappedFrame&) = delete;
    MappedFrame& operator=(const MappedFrame&) = delete;
    explicit operator bool() const { return mapped_; }
    const std::byte* row(int component, int y) const {
        return reinterpret_cast<const std::byte*>(GST_VIDEO_FRAME_COMP_DATA(&frame_, component)) +
               static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame_, component);
    }
    int step(int component) const { return GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, component); }
    int width() const { return GST_VIDEO_FRAME_WIDTH(&frame_); }
    int height() const { return GST_VIDEO_FRAME_HEIGHT(&frame_); }

private:
    GstVideoFrame frame_{};
    bool mapped_;
};

/// Interleaves three components with their own start and step as R, G, B. `Word` is the type of a value.
template <class Word> void copy_rgb_row(const MappedFrame& frame, int y, std::byte* to) {
    const std::byte* r = frame.row(GST_VIDEO_COMP_R, y);
    const std::byte* g = frame.row(GST_VIDEO_COMP_G, y);
    const std::byte* b = frame.row(GST_VIDEO_COMP_B, y);
    const int step = frame.step(GST_VIDEO_COMP_R);
    for (int x = 0; x < frame.width(); ++x, to += 3 * sizeof(Word)) {
        std::memcpy(to, r + x * step, sizeof(Word));
        std::memcpy(to + sizeof(Word), g + x * step, sizeof(Word));
        std::memcpy(to + 2 * sizeof(Word), b + x * step, sizeof(Word));
    }
}

/// Coefficients for the matrix and range of the caps.
template <class Word> RgbOfYuv rgb_of_yuv(const GstVideoInfo& info) {
    double red = 0, blue = 0; // their weights in luma
    gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &red, &blue);
    std::array<gint, GST_VIDEO_MAX_COMPONENTS> offset{}, scale{};
    gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset.data(), scale.data());
    const double full = std::numeric_limits<Word>::max();
    const double chroma = 2 * full / scale[1], green = 1 - red - blue;
    return {.black = static_cast<float>(offset[0]),
            .neutral = static_cast<float>(offset[1]),
            .luma = static_cast<float>(full / scale[0]),
            .v_red = static_cast<float>(chroma * (1 - red)),
            .u_blue = static_cast<float>(chroma * (1 - blue)),
            .u_green = static_cast<float>(chroma * (1 - blue) * blue / green),
            .v_green = static_cast<float>(chroma * (1 - red) * red / green)};
}

template <class Word> void convert_yuv(const MappedFrame& frame, const GstVideoInfo& info, HostView to) {
    const RgbOfYuv by = rgb_of_yuv<Word>(info);
    const auto words = [&](int plane, int y) { return reinterpret_cast<const Word*>(frame.row(plane, y)); };
    for (int y = 0; y < to.shape.height; ++y)
        rgb_row(by, words(0, y), words(1, y), words(2, y), frame.width(), to.as<Word>().row(y));
}

} // namespace

GstHandle<GstCaps> accepted_caps() { return GstHandle<GstCaps>(gst_caps_from_string(kCaps)); }

GstHandle<GstCaps> yuv_caps(guint bits) {
    std::string text = "video/x-raw, format = Y444";
    if (bits > 8)
        text += (bits <= 10   ? "_10"
                 : bits <= 12 ? "_12"
                              : "_16") +
                std::string(std::endian::native == std::endian::little ? "LE" : "BE");
    return GstHandle<GstCaps>(gst_caps_from_string(text.c_str()));
}

GstHandle<GstCaps> deep_caps() { return GstHandle<GstCaps>(gst_caps_from_string(kDeepCaps)); }

PixelLayout layout_of(const GstCaps* caps, const std::string& name) {
    PixelLayout layout;
    if (!gst_video_info_from_caps(&layout.info, caps)) {
        const GstHandle<gchar> text(gst_caps_to_string(caps));
        throw RunError(name + " gives '" + text.get() + "', which is not video in memory.");
    }
    const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&layout.info);
    const bool wide = GST_VIDEO_INFO_COMP_DEPTH(&layout.info, 0) > 8;
    layout.shape = {GST_VIDEO_INFO_WIDTH(&layout.info), GST_VIDEO_INFO_HEIGHT(&layout.info),
                    is_grey(format) ? 1 : 3, wide ? PixelType::u16 : PixelType::u8};
    constexpr bool little = std::endian::native == std::endian::little;
    layout.swap = format == (little ? GST_VIDEO_FORMAT_GRAY16_BE : GST_VIDEO_FORMAT_GRAY16_LE);
    check_shape(layout.shape, name);
    return layout;
}

bool PixelLayout::as_in_slot() const {
    return !swap && (shape.channels == 1 || GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_RGB);
}

void copy_buffer(GstBuffer* buffer, const PixelLayout& layout, HostView to, const std::string& name) {
    const MappedFrame frame(buffer, layout.info);
    if (!frame || frame.width() != to.shape.width || frame.height() != to.shape.height)
        throw RunError(name + " gave a frame smaller than its format requires.");
    if (GST_VIDEO_INFO_IS_YUV(&layout.info)) {
        to.shape.type == PixelType::u16 ? convert_yuv<std::uint16_t>(frame, layout.info, to)
                                        : convert_yuv<std::uint8_t>(frame, layout.info, to);
        return;
    }
    for (int y = 0; y < to.shape.height; ++y) {
        if (layout.as_in_slot())
            std::memcpy(to.row(y), frame.row(0, y), to.shape.row_bytes());
        else if (layout.swap)
            copy_swapped(frame.row(0, y), to.row(y), to.shape.width);
        else
            to.shape.type == PixelType::u16 ? copy_rgb_row<std::uint16_t>(frame, y, to.row(y))
                                            : copy_rgb_row<std::uint8_t>(frame, y, to.row(y));
    }
}

} // namespace specklescope
