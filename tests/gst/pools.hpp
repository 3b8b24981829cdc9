// Pools as those see them who take buffers: the element's offer, what became of a buffer.
#pragma once

#include "tests/gst/harness.hpp"

namespace element {

inline bool ours(const GstBufferPool* pool) {
    return pool && g_strcmp0(G_OBJECT_TYPE_NAME(pool), "SpecklescopePool") == 0;
}

/// What the element answers about memory for such frames.
class Offer {
public:
    explicit Offer(Harness& harness, const std::string& caps, bool wanted = true)
        : caps_(gst_caps_from_string(caps.c_str())) {
        GstQuery* const query = gst_query_new_allocation(caps_, wanted);
        EXPECT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
        pools = gst_query_get_n_allocation_pools(query);
        if (pools > 0)
            gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
        meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
        gst_query_unref(query);
    }
    ~Offer() {
        if (pool) {
            gst_buffer_pool_set_active(pool, FALSE);
            gst_object_unref(pool);
        }
        gst_caps_unref(caps_);
    }
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;

    /// As what comes before does it.
    bool configure(bool with_meta, guint bytes, const GstAllocationParams* params = nullptr,
                   GstVideoAlignment* border = nullptr) const {
        GstStructure* const config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, caps_, bytes, least, most);
        if (params)
            gst_buffer_pool_config_set_allocator(config, nullptr, params);
        if (with_meta)
            gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        if (border) {
            gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
            gst_buffer_pool_config_set_video_alignment(config, border);
        }
        return gst_buffer_pool_set_config(pool, config) != FALSE;
    }
    void start(bool with_meta, const GstAllocationParams* params = nullptr,
               GstVideoAlignment* border = nullptr) const {
        ASSERT_NE(pool, nullptr);
        ASSERT_TRUE(configure(with_meta, size, params, border));
        ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
    }
    GstBuffer* acquire() const {
        GstBuffer* buffer = nullptr;
        EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
        return buffer;
    }

    GstBufferPool* pool = nullptr;
    guint pools = 0, size = 0, least = 0, most = 0;
    bool meta = false;

private:
    GstCaps* caps_;
};

inline const void* address_of(GstBuffer* buffer) {
    GstMapInfo map;
    EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
    const void* const data = map.data;
    gst_buffer_unmap(buffer, &map);
    return data;
}

/// Bytes from row to row.
inline int fill(GstBuffer* buffer, const Picture& picture, const std::string& format) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()),
                              static_cast<guint>(picture.width), static_cast<guint>(picture.height));
    GstVideoFrame frame;
    EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
    const int pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    for (int y = 0; y < picture.height; ++y) {
        auto* const row = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                          static_cast<std::ptrdiff_t>(y) * pitch;
        std::memcpy(row, picture.bytes.data() + picture.row_bytes() * static_cast<std::size_t>(y),
                    picture.row_bytes());
        if (format == "GRAY16_BE")
            for (std::size_t i = 0; i < picture.row_bytes(); i += 2)
                std::swap(row[i], row[i + 1]);
    }
    gst_video_frame_unmap(&frame);
    return pitch;
}

} // namespace element
