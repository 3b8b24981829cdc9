// Owners for what the element gets from GStreamer.
#pragma once

#include <gst/video/video.h>

#include <cstddef>
#include <memory>
#include <string>

namespace specklescope::element {

struct Unref {
    void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
    void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
    void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
    void operator()(GstSample* sample) const { gst_sample_unref(sample); }
    void operator()(GstStructure* structure) const { gst_structure_free(structure); }
    void operator()(gchar* text) const { g_free(text); }
};
template <class T> using Owned = std::unique_ptr<T, Unref>;

inline std::string text_of(const GstCaps* caps) { return Owned<gchar>(gst_caps_to_string(caps)).get(); }

/// A picture of video/x-raw, unmapped at the end of the scope; rows lie as the buffer's GstVideoMeta says, or
/// its caps where it has none.
class MappedVideo {
public:
    MappedVideo(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags how)
        : mapped_(gst_video_frame_map(&frame_, &info, buffer, how) != FALSE) {}
    ~MappedVideo() {
        if (mapped_)
            gst_video_frame_unmap(&frame_);
    }
    MappedVideo(const MappedVideo&) = delete;
    MappedVideo& operator=(const MappedVideo&) = delete;
    explicit operator bool() const { return mapped_; }
    std::byte* row(int y) const {
        return static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) +
               static_cast<std::ptrdiff_t>(y) * pitch();
    }
    int pitch() const { return GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0); }
    int width() const { return GST_VIDEO_FRAME_WIDTH(&frame_); }
    int height() const { return GST_VIDEO_FRAME_HEIGHT(&frame_); }

private:
    GstVideoFrame frame_{};
    bool mapped_;
};

/// The bytes of a buffer, unmapped at the end of the scope.
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
