// The element's pools as other elements see them: the offered pool, the origin of a buffer.
#pragma once

#include "tests/gst/harness.hpp"

namespace element {

/// True if its buffers are in memory of the element's chain.
inline bool ours(GstBufferPool* pool) {
    if (!pool)
        return false;
    GstStructure* const config = gst_buffer_pool_get_config(pool);
    GstAllocator* allocator = nullptr;
    gst_buffer_pool_config_get_allocator(config, &allocator, nullptr);
    const bool found = allocator && g_strcmp0(G_OBJECT_TYPE_NAME(allocator), "SpecklescopeAllocator") == 0;
    gst_structure_free(config);
    return found;
}

/// Answer of the element to the allocation query for these frames.
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

    /// Configures the pool as a previous element does.
    bool configure(bool with_meta, guint bytes) const {
        GstStructure* const config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, caps_, bytes, least, most);
        if (with_meta)
            gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        return gst_buffer_pool_set_config(pool, config) != FALSE;
    }
    void start(bool with_meta) const {
        ASSERT_NE(pool, nullptr);
        ASSERT_TRUE(configure(with_meta, size));
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

/// Fills the buffer; returns its pitch in bytes.
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
