#include "gst/allocation.hpp"

#include "gst/formats.hpp"
#include "gst/pool.hpp"

#include <algorithm>

namespace specklescope::element {

namespace {

/// One is written while the other is read.
constexpr guint kReady = 2;

} // namespace

void offer_pool(specklescope_chain* chain, GstQuery* query) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    GstCaps* caps = nullptr;
    gboolean wanted = FALSE;
    gst_query_parse_allocation(query, &caps, &wanted);
    const std::optional<InputFormat> input = caps ? input_format(caps) : std::nullopt;
    if (!wanted || !chain || !input || input->cuda)
        return;
    const std::size_t bytes = frame_bytes(caps);
    if (bytes > G_MAXUINT)
        return;
    const auto size = static_cast<guint>(bytes);
    if (const Owned<GstBufferPool> pool = make_pool(chain, caps, size, kReady))
        gst_query_add_allocation_pool(query, pool.get(), size, kReady, 0);
}

void choose_pool(specklescope_chain* chain, GstQuery* query) {
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    const std::optional<OutputFormat> output = caps ? output_format(caps) : std::nullopt;
    if (!output)
        return;
    GstBufferPool* given = nullptr;
    guint size = 0, least = 0, most = 0;
    const bool told = gst_query_get_n_allocation_pools(query) > 0;
    if (told)
        gst_query_parse_nth_allocation_pool(query, 0, &given, &size, &least, &most);
    Owned<GstBufferPool> pool(given);
    if (output->bytes <= G_MAXUINT) // what follows may think of other frames
        size = std::max(size, static_cast<guint>(output->bytes));
    if (pool) {
        gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, least, most);
    } else if (chain && output->bytes <= G_MAXUINT) {
        pool = make_pool(chain, caps, size, least);
        if (pool && told)
            gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, least, most);
        else if (pool)
            gst_query_add_allocation_pool(query, pool.get(), size, least, most);
    }
    if (pool && is_picture(output->sent) &&
        gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) &&
        gst_buffer_pool_has_option(pool.get(), GST_BUFFER_POOL_OPTION_VIDEO_META)) {
        GstStructure* config = gst_buffer_pool_get_config(pool.get());
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        gst_buffer_pool_set_config(pool.get(), config);
    }
}

} // namespace specklescope::element
