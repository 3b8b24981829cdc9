// Owners for GStreamer objects of the element.
#pragma once

#include "gst/library.hpp"

#include <gst/video/video.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace specklescope::element {

struct Unref {
    void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
    void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
    void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
    void operator()(GstAllocator* allocator) const { gst_object_unref(allocator); }
    void operator()(GstSample* sample) const { gst_sample_unref(sample); }
    void operator()(GstStructure* structure) const { gst_structure_free(structure); }
    void operator()(gchar* text) const { g_free(text); }
};
template <class T> using Owned = std::unique_ptr<T, Unref>;

inline std::string text_of(const GstCaps* caps) { return Owned<gchar>(gst_caps_to_string(caps)).get(); }

/// First plane of a video/x-raw image (others are not used), mapped during the lifetime of this object. The
/// layout comes from the buffer's GstVideoMeta, otherwise from its caps.
class MappedVideo {
public:
    /// `how`: GstMapFlags and similar flags. `which`: the buffer, for messages. Throws Refusal unless the
    /// buffer contains all rows in order: GStreamer does not check that.
    MappedVideo(GstBuffer* buffer, const GstVideoInfo& info, guint how, const char* which) {
        const GstVideoMeta* const meta = gst_buffer_get_video_meta(buffer);
        const bool alike = !meta || (meta->width == static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) &&
                                     meta->height == static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)) &&
                                     meta->format == GST_VIDEO_INFO_FORMAT(&info) &&
                                     meta->n_planes == GST_VIDEO_INFO_N_PLANES(&info));
        if (alike && gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(how))) {
            if (rows_fit())
                return;
            gst_video_frame_unmap(&frame_);
        }
        throw Refusal(
            SPECKLESCOPE_RUN_ERROR,
            std::string("The buffer ") + which + " has " + std::to_string(gst_buffer_get_size(buffer)) +
                " bytes and cannot be mapped as " + std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "×" +
                std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + " pixels of " + GST_VIDEO_INFO_NAME(&info) +
                ": its caps and its GstVideoMeta do not fit its memory or each other. Check the "
                "element that made it.");
    }
    ~MappedVideo() { gst_video_frame_unmap(&frame_); }
    MappedVideo(const MappedVideo&) = delete;
    MappedVideo& operator=(const MappedVideo&) = delete;
    std::byte* row(int y) const {
        return static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) +
               static_cast<std::ptrdiff_t>(y) * pitch();
    }
    int pitch() const { return GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0); }

private:
    bool rows_fit() const {
        const std::int64_t bytes = static_cast<std::int64_t>(GST_VIDEO_FRAME_WIDTH(&frame_)) *
                                   GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, 0),
                           step = pitch();
        const GstMapInfo& map = frame_.map[0]; // GPU addresses for GPU memory
        const std::uint64_t before =
            reinterpret_cast<std::uintptr_t>(row(0)) - reinterpret_cast<std::uintptr_t>(map.data);
        return step >= bytes && before <= map.size &&
               static_cast<std::uint64_t>((GST_VIDEO_FRAME_HEIGHT(&frame_) - 1) * step + bytes) <=
                   map.size - before;
    }

    GstVideoFrame frame_{};
};

/// Bytes of a buffer, unmapped at the end of the scope.
class MappedBytes {
public:
    MappedBytes(GstBuffer* buffer, GstMapFlags how)
        : buffer_(buffer), mapped_(gst_buffer_map(buffer, &map_, how) != FALSE) {}
    ~MappedBytes() {
        if (mapped_)
            gst_buffer_unmap(buffer_, &map_);
    }
    MappedBytes(const MappedBytes&) = delete;
    MappedBytes& operator=(const MappedBytes&) = delete;
    explicit operator bool() const { return mapped_; }
    void* data() const { return map_.data; }
    std::size_t size() const { return map_.size; }

private:
    GstBuffer* buffer_;
    GstMapInfo map_{};
    bool mapped_;
};

} // namespace specklescope::element
