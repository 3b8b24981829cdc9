#include "sources/gst/gst_checks.hpp"

#include "files/gst_handles.hpp"

#include <gst/video/video.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace specklescope {

std::string DamagedFrame::why() const {
    return needed > 0 ? std::to_string(bytes) + " of " + std::to_string(needed) + " bytes" : "cut or broken";
}

void DamagedFrames::add(const DamagedFrame& frame) {
    const std::scoped_lock lock(mutex_);
    frames_.push_back(frame);
}

std::optional<DamagedFrame> DamagedFrames::take(std::int64_t time) {
    const std::scoped_lock lock(mutex_);
    if (frames_.empty() || frames_.front().time.value_or(time) > time)
        return std::nullopt;
    const DamagedFrame frame = frames_.front();
    frames_.pop_front();
    return frame;
}

void DamagedFrames::clear() {
    const std::scoped_lock lock(mutex_);
    frames_.clear();
}

std::optional<std::int64_t> stream_time(GstBuffer* buffer, const GstSegment& segment) {
    const GstClockTime time =
        GST_BUFFER_PTS_IS_VALID(buffer) ? GST_BUFFER_PTS(buffer) : GST_BUFFER_DTS(buffer);
    if (!GST_CLOCK_TIME_IS_VALID(time) || segment.format != GST_FORMAT_TIME)
        return std::nullopt;
    const GstClockTime at = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, time);
    return GST_CLOCK_TIME_IS_VALID(at) ? std::optional(static_cast<std::int64_t>(at)) : std::nullopt;
}

std::optional<std::uint64_t> frame_number(GstBuffer* buffer) {
    // Elements that number their frames set offset_end = offset + 1; byte offsets differ.
    const std::uint64_t offset = GST_BUFFER_OFFSET(buffer);
    return offset != GST_BUFFER_OFFSET_NONE && GST_BUFFER_OFFSET_END(buffer) == offset + 1
               ? std::optional(offset)
               : std::nullopt;
}

namespace {

/// Bytes per row of a plane; 0 for formats that pack samples across bytes, tiles and palettes.
gsize plane_row_bytes(const GstVideoInfo& info, guint plane) {
    constexpr int kNotSimple =
        GST_VIDEO_FORMAT_FLAG_COMPLEX | GST_VIDEO_FORMAT_FLAG_TILED | GST_VIDEO_FORMAT_FLAG_PALETTE;
    const GstVideoFormatInfo* format = info.finfo;
    gsize bytes = 0;
    for (guint c = 0; c < format->n_components && (format->flags & kNotSimple) == 0; ++c)
        if (format->plane[c] == plane)
            bytes =
                std::max(bytes, static_cast<gsize>(GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, c, info.width) *
                                                   format->pixel_stride[c]));
    return bytes;
}

gsize plane_rows(const GstVideoInfo& info, guint plane) {
    for (guint c = 0; c < info.finfo->n_components; ++c)
        if (info.finfo->plane[c] == plane)
            return static_cast<gsize>(GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info.finfo, c, info.height));
    return 0;
}

/// The same format without padding; size 0 if that is not defined.
GstVideoInfo without_padding(GstVideoInfo info) {
    info.size = 0;
    for (guint plane = 0; plane < info.finfo->n_planes; ++plane) {
        const gsize row = plane_row_bytes(info, plane);
        if (row == 0) {
            info.size = 0;
            break;
        }
        info.offset[plane] = info.size;
        info.stride[plane] = static_cast<gint>(row);
        info.size += row * plane_rows(info, plane);
    }
    return info;
}

/// Bytes needed by a buffer with the planes of its meta; 0: unknown.
gsize needed_by(const GstVideoMeta& meta, const GstVideoInfo& info) {
    gsize needed = 0;
    for (guint plane = 0; plane < std::min<guint>(meta.n_planes, info.finfo->n_planes); ++plane) {
        const gsize row = plane_row_bytes(info, plane);
        if (row == 0 || meta.stride[plane] < 0)
            return 0;
        needed = std::max(needed, meta.offset[plane] + row +
                                      static_cast<gsize>(meta.stride[plane]) * (plane_rows(info, plane) - 1));
    }
    return needed;
}

/// A complete JPEG image contains an end marker after its first scan; an embedded preview is before the scan.
bool jpeg_has_end(std::span<const guint8> data) {
    constexpr guint8 kMark = 0xFF, kScan = 0xDA, kEnd = 0xD9;
    std::size_t at = 2; // after the start marker
    while (at + 4 <= data.size() && data[at] == kMark && data[at + 1] != kScan)
        at += data[at + 1] == kMark ? 1 : 2U + (data[at + 2] << 8U | data[at + 3]);
    for (std::size_t end = data.size(); end >= at + 2; --end)
        if (data[end - 2] == kMark && data[end - 1] == kEnd)
            return true;
    return false;
}

/// Checks the input of one element, on its streaming thread.
class PadCheck {
public:
    explicit PadCheck(std::shared_ptr<DamagedFrames> damaged) : damaged_(std::move(damaged)) {}

    GstPadProbeReturn look(GstPad* pad, GstPadProbeInfo* probe) {
        if ((GST_PAD_PROBE_INFO_TYPE(probe) & GST_PAD_PROBE_TYPE_EVENT_FLUSH) != 0) {
            if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(probe)) == GST_EVENT_FLUSH_STOP)
                damaged_->clear();
            return GST_PAD_PROBE_OK;
        }
        learn(GstHandle<GstCaps>(gst_pad_get_current_caps(pad)));
        GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
        DamagedFrame frame{.bytes = gst_buffer_get_size(buffer), .number = frame_number(buffer)};
        if (raw_) {
            if (is_whole(probe, frame))
                return GST_PAD_PROBE_OK;
        } else if (!jpeg_) {
            return GST_PAD_PROBE_OK;
        }
        GstEvent* event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
        if (!event)
            return GST_PAD_PROBE_OK;
        const GstSegment* segment = nullptr;
        gst_event_parse_segment(event, &segment);
        frame.time = stream_time(buffer, *segment);
        const bool packets = segment->format == GST_FORMAT_TIME; // otherwise parts of a file of any size
        gst_event_unref(event);
        if (jpeg_ && (!packets || jpeg_is_whole(buffer)))
            return GST_PAD_PROBE_OK;
        damaged_->add(frame);
        return GST_PAD_PROBE_DROP;
    }

private:
    void learn(GstHandle<GstCaps> caps) {
        if (caps.get() == caps_.get())
            return;
        caps_ = std::move(caps);
        raw_ = jpeg_ = packed_ = false;
        if (!caps_ || !gst_caps_is_fixed(caps_.get()))
            return;
        const std::string_view type = gst_structure_get_name(gst_caps_get_structure(caps_.get(), 0));
        jpeg_ = type == "image/jpeg";
        raw_ = type == "video/x-raw" &&
               gst_caps_features_is_equal(gst_caps_get_features(caps_.get(), 0),
                                          GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) &&
               gst_video_info_from_caps(&info_, caps_.get());
        if (raw_)
            tight_ = without_padding(info_);
    }

    /// If false, frame.needed is set. Sets the row layout of a buffer without padding.
    bool is_whole(GstPadProbeInfo* probe, DamagedFrame& frame) {
        GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
        if (const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer)) {
            frame.needed = needed_by(*meta, info_);
            return frame.bytes >= frame.needed;
        }
        if (tight_.size < info_.size && frame.bytes == tight_.size) {
            buffer = gst_buffer_make_writable(buffer);
            GST_PAD_PROBE_INFO_DATA(probe) = buffer;
            gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&tight_),
                                           static_cast<guint>(tight_.width),
                                           static_cast<guint>(tight_.height), tight_.finfo->n_planes,
                                           tight_.offset, tight_.stride);
            packed_ = true;
            return true;
        }
        // A stream has one layout: once without padding, a larger buffer is something else.
        frame.needed = packed_ ? tight_.size : info_.size;
        return !packed_ && frame.bytes >= info_.size;
    }

    static bool jpeg_is_whole(GstBuffer* buffer) {
        GstMapInfo map;
        if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED) ||
            !gst_buffer_map(buffer, &map, GST_MAP_READ))
            return false;
        const bool whole = jpeg_has_end({map.data, map.size});
        gst_buffer_unmap(buffer, &map);
        return whole;
    }

    std::shared_ptr<DamagedFrames> damaged_;
    GstHandle<GstCaps> caps_;
    bool raw_ = false, jpeg_ = false;
    bool packed_ = false; ///< buffers with these caps have come without padding
    GstVideoInfo info_{}, tight_{};
};

void check_input(GstElement* element, const std::shared_ptr<DamagedFrames>& damaged) {
    const GstHandle<GstPad> pad(gst_element_get_static_pad(element, "sink"));
    if (pad && !GST_IS_BIN(element))
        gst_pad_add_probe(
            pad.get(),
            static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_FLUSH |
                                         GST_PAD_PROBE_TYPE_PUSH),
            [](GstPad* here, GstPadProbeInfo* probe, gpointer check) {
                return static_cast<PadCheck*>(check)->look(here, probe);
            },
            new PadCheck(damaged), [](gpointer check) { delete static_cast<PadCheck*>(check); });
}

} // namespace

void check_buffers(GstElement* pipeline, const std::shared_ptr<DamagedFrames>& damaged) {
    GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
    GValue item = G_VALUE_INIT;
    while (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        check_input(GST_ELEMENT(g_value_get_object(&item)), damaged);
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
    using Shared = std::shared_ptr<DamagedFrames>;
    const auto added = [](GstBin*, GstBin*, GstElement* element, gpointer shared) {
        check_input(element, *static_cast<Shared*>(shared));
    };
    g_signal_connect_data(
        pipeline, "deep-element-added", G_CALLBACK(+added),
        new Shared(damaged), // NOLINT: GLib's ownership convention
        [](gpointer shared, GClosure*) { delete static_cast<Shared*>(shared); }, // NOLINT: as above
        GConnectFlags{});
}

} // namespace specklescope
