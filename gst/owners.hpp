// Owners for what the element gets from GStreamer.
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
    void operator()(GstSample* sample) const { gst_sample_unref(sample); }
    void operator()(GstStructure* structure) const { gst_structure_free(structure); }
    void operator()(gchar* text) const { g_free(text); }
};
template <class T> using Owned = std::unique_ptr<T, Unref>;

inline std::string text_of(const GstCaps* caps) { return Owned<gchar>(gst_caps_to_string(caps)).get(); }

/// The first plane of a picture of video/x-raw, which is all that is used, unmapped at the end of the scope;
/// rows lie as the buffer's GstVideoMeta says, or its caps where it has none.
class MappedVideo {
public:
    /// `how`: GstMapFlags and others of their kind. `which`: the buffer, for sentences. Throws Refusal unless
    /// all rows lie in the buffer, one after another.
    MappedVideo(GstBuffer* buffer, const GstVideoInfo& info, guint how, const char* which)
        : mapped_(may_be_mapped(buffer, info) &&
                  gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(how)) != FALSE) {
        std::string wrong = mapped_ ? wrong_rows(info) : unmapped(buffer, info);
        if (wrong.empty())
            return;
        if (mapped_) // nobody calls the destructor of what throws here
            gst_video_frame_unmap(&frame_);
        throw Refusal(SPECKLESCOPE_RUN_ERROR, std::string("The buffer ") + which + " " + std::move(wrong) +
                                                  "; look at the element that made it.");
    }
    ~MappedVideo() { gst_video_frame_unmap(&frame_); }
    MappedVideo(const MappedVideo&) = delete;
    MappedVideo& operator=(const MappedVideo&) = delete;
    std::byte* row(int y) const {
        return static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) +
               static_cast<std::ptrdiff_t>(y) * pitch();
    }
    int pitch() const { return GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0); }
    int width() const { return GST_VIDEO_FRAME_WIDTH(&frame_); }
    int height() const { return GST_VIDEO_FRAME_HEIGHT(&frame_); }

private:
    static std::int64_t row_bytes(const GstVideoInfo& info) {
        return static_cast<std::int64_t>(GST_VIDEO_INFO_WIDTH(&info)) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0);
    }
    static std::string pixels(std::int64_t width, std::int64_t height) {
        return std::to_string(width) + "×" + std::to_string(height) + " pixels";
    }

    /// GStreamer maps what a GstVideoMeta says without a look at how long the memory is. Empty: all is well.
    std::string wrong_rows(const GstVideoInfo& info) const {
        const int rows = GST_VIDEO_INFO_HEIGHT(&info);
        if (width() != GST_VIDEO_INFO_WIDTH(&info) || height() != rows)
            return other_size(pixels(width(), height()), info);
        const std::int64_t row = row_bytes(info), step = pitch();
        if (step < 0)
            return "has rows that run backwards (" + std::to_string(step) +
                   " bytes from one to the next), and they must run forwards";
        if (step < row)
            return "has " + std::to_string(step) + " bytes from one row to the next, and a row needs " +
                   std::to_string(row);
        const GstMapInfo& map = frame_.map[0]; // of a GPU's memory, too: addresses there, and its size
        const auto begin = reinterpret_cast<std::uintptr_t>(map.data),
                   first = reinterpret_cast<std::uintptr_t>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0));
        const std::uint64_t before = first - begin; // beyond any size where it lies in front
        const std::uint64_t has = before <= map.size ? map.size - before : 0;
        const auto needs = static_cast<std::uint64_t>((rows - 1) * step + row);
        return has < needs ? lacks(has, needs) : "";
    }
    /// What is smaller than its caps say, or of other planes, is a mistake of the caller's to GStreamer, and
    /// loud.
    static bool may_be_mapped(GstBuffer* buffer, const GstVideoInfo& info) {
        const GstVideoMeta* const meta = gst_buffer_get_video_meta(buffer);
        return !meta || (is_large_enough(*meta, info) && is_of_its_format(*meta, info));
    }
    static bool is_large_enough(const GstVideoMeta& meta, const GstVideoInfo& info) {
        return meta.width >= static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) &&
               meta.height >= static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info));
    }
    static bool is_of_its_format(const GstVideoMeta& meta, const GstVideoInfo& info) {
        return meta.format == GST_VIDEO_INFO_FORMAT(&info) && meta.n_planes == GST_VIDEO_INFO_N_PLANES(&info);
    }
    static std::string other_size(const std::string& has, const GstVideoInfo& info) {
        return "has " + has + ", and its caps say " +
               pixels(GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
    }
    static std::string unmapped(GstBuffer* buffer, const GstVideoInfo& info) {
        std::uint64_t needs = GST_VIDEO_INFO_SIZE(&info);
        if (const GstVideoMeta* const meta = gst_buffer_get_video_meta(buffer)) {
            if (!is_large_enough(*meta, info))
                return other_size(pixels(meta->width, meta->height), info);
            if (!is_of_its_format(*meta, info))
                return std::string("says that it is ") + gst_video_format_to_string(meta->format) + " in " +
                       std::to_string(meta->n_planes) + " planes, and its caps say " +
                       GST_VIDEO_INFO_NAME(&info);
            needs = meta->offset[0] + static_cast<std::uint64_t>(row_bytes(info)); // at the least
        }
        const std::uint64_t has = gst_buffer_get_size(buffer);
        return has < needs ? lacks(has, needs) : "cannot be mapped";
    }
    static std::string lacks(std::uint64_t has, std::uint64_t needs) {
        return "is too small: it has " + std::to_string(has) + " bytes for its rows, which need " +
               std::to_string(needs);
    }

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
