#include "gst/pool.hpp"

#include "gst/formats.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

namespace specklescope::element {

namespace {

/// What a pool keeps of one size: page-locked memory is taken from everybody else.
constexpr guint kMostBytes = guint{256} << 20, kFewest = 4, kMost = 16;
constexpr gint kRows = 64; // bytes: FrameRing's on the host

/// Of buffers alive, also of those that the pool has let go.
using Count = std::atomic<guint>;

struct PoolState {
    specklescope_chain* chain = nullptr; ///< a key: refused when the chain has ended
    std::shared_ptr<Count> locked = std::make_shared<Count>(0);
    std::atomic<bool> refused{false};
    // Of the configuration, which stands still while buffers are made.
    std::optional<GstVideoInfo> rows;        ///< where buffers have video's meta
    std::optional<GstVideoAlignment> border; ///< where whoever fills them asked for one around the picture
    guint size = 0, most = kFewest;
    GstAllocationParams params{};
};

struct Pool {
    GstBufferPool base;
    PoolState* state; ///< made with the instance, ends with it
};

GstBufferPoolClass* parent_class = nullptr;

PoolState& state_of(gpointer pool) { return *static_cast<Pool*>(pool)->state; }

/// Marks buffers beyond the bound.
GQuark beyond() {
    static const GQuark quark = g_quark_from_static_string("specklescope-beyond");
    return quark;
}

const gchar** get_options(GstBufferPool*) {
    static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META,
                                     GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, nullptr};
    return options;
}

/// Its formats have one plane.
GstVideoInfo with_rows_apart(GstVideoInfo info) {
    gint& pitch = GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
    pitch = (pitch + kRows - 1) / kRows * kRows;
    info.size = static_cast<gsize>(pitch) * static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info));
    return info;
}

/// The rows of buffers with video's meta. A border is laid as GStreamer's own pool does it, which whoever
/// asked for it counts on; it is told in `config` what it gets. False: there is no such picture.
bool lay_rows(PoolState& state, GstVideoInfo info, GstStructure* config) {
    if (gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT)) {
        GstVideoAlignment border;
        gst_video_alignment_reset(&border);
        gst_buffer_pool_config_get_video_alignment(config, &border);
        border.stride_align[0] |= kRows - 1;
        if (!gst_video_info_align(&info, &border))
            return false;
        gst_buffer_pool_config_set_video_alignment(config, &border);
        state.params.align |= border.stride_align[0];
        state.border = border;
    } else {
        info = with_rows_apart(info);
    }
    state.rows = info;
    return GST_VIDEO_INFO_SIZE(&info) <= G_MAXUINT;
}

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
    PoolState& state = state_of(pool);
    GstCaps* caps = nullptr;
    guint size = 0, least = 0, most = 0;
    if (!gst_buffer_pool_config_get_params(config, &caps, &size, &least, &most) || !caps ||
        !gst_buffer_pool_config_get_allocator(config, nullptr, &state.params))
        return FALSE;
    const std::size_t packed = frame_bytes(caps);
    if (packed == 0 || packed > size)
        return FALSE;
    state.rows.reset();
    state.border.reset();
    GstVideoInfo info;
    if (gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META) &&
        gst_video_info_from_caps(&info, caps)) {
        if (!lay_rows(state, info, config))
            return FALSE;
        size = std::max(size, static_cast<guint>(GST_VIDEO_INFO_SIZE(&*state.rows)));
    }
    state.size = size;
    state.most = std::clamp(kMostBytes / size, kFewest, kMost);
    gst_buffer_pool_config_set_params(config, caps, size, least, most);
    return parent_class->set_config(pool, config);
}

/// A buffer's memory, counted until it goes.
struct Taken {
    Room room;
    std::shared_ptr<Count> locked;
    Taken(const std::shared_ptr<Count>& count, Room&& taken) : room(std::move(taken)), locked(count) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
        room.owner.reset();
        --*locked;
    }
};

/// Null where there is to be no more of it, or can be none.
GstMemory* take(GstBufferPool* pool) {
    PoolState& state = state_of(pool);
    const gsize all = state.params.prefix + state.size + state.params.padding, align = state.params.align;
    if (state.refused)
        return nullptr;
    if (++*state.locked > state.most) {
        --*state.locked;
        return nullptr;
    }
    try {
        Room room = make_room(state.chain, all + align);
        auto* const data = static_cast<std::byte*>(room.data);
        auto* const begin = data + (-reinterpret_cast<std::uintptr_t>(data) & align);
        auto taken = std::make_unique<Taken>(state.locked, std::move(room));
        return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), begin, all, state.params.prefix,
                                      state.size, taken.release(),
                                      [](gpointer gone) { delete static_cast<Taken*>(gone); });
    } catch (const std::exception& refusal) { // slower, and as good
        --*state.locked;
        state.refused = true;
        GST_WARNING_OBJECT(pool, "buffers in memory as any other: %s", refusal.what());
        return nullptr;
    }
}

GstFlowReturn alloc_buffer(GstBufferPool* pool, GstBuffer** made, GstBufferPoolAcquireParams*) {
    PoolState& state = state_of(pool);
    Owned<GstBuffer> buffer;
    if (GstMemory* const memory = take(pool)) {
        buffer.reset(gst_buffer_new());
        gst_buffer_append_memory(buffer.get(), memory);
    } else {
        buffer.reset(gst_buffer_new_allocate(nullptr, state.size, &state.params));
        if (!buffer)
            return GST_FLOW_ERROR;
        gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(buffer.get()), beyond(), buffer.get(), nullptr);
    }
    if (GstVideoInfo* const info = state.rows ? &*state.rows : nullptr) {
        GstVideoMeta* const meta = gst_buffer_add_video_meta_full(
            buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
            static_cast<guint>(GST_VIDEO_INFO_WIDTH(info)), static_cast<guint>(GST_VIDEO_INFO_HEIGHT(info)),
            GST_VIDEO_INFO_N_PLANES(info), info->offset, info->stride);
        if (state.border)
            gst_video_meta_set_alignment(meta, *state.border);
    }
    *made = buffer.release();
    return GST_FLOW_OK;
}

void release_buffer(GstBufferPool* pool, GstBuffer* buffer) {
    if (gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(buffer), beyond()))
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY); // with which it is not kept
    parent_class->release_buffer(pool, buffer);
}

void finalize(GObject* object) {
    const std::unique_ptr<PoolState> state(static_cast<Pool*>(static_cast<gpointer>(object))->state);
    G_OBJECT_CLASS(parent_class)->finalize(object);
}

void class_init(gpointer klass, gpointer) {
    parent_class = static_cast<GstBufferPoolClass*>(g_type_class_peek_parent(klass));
    static_cast<GObjectClass*>(klass)->finalize = finalize;
    auto* pool_class = static_cast<GstBufferPoolClass*>(klass);
    pool_class->get_options = get_options;
    pool_class->set_config = set_config;
    pool_class->alloc_buffer = alloc_buffer;
    pool_class->release_buffer = release_buffer;
}

void instance_init(GTypeInstance* instance, gpointer) {
    static_cast<Pool*>(static_cast<gpointer>(instance))->state = std::make_unique<PoolState>().release();
}

GType pool_type() {
    static const GType type = [] {
        GTypeInfo info{};
        info.class_size = sizeof(GstBufferPoolClass);
        info.class_init = class_init;
        info.instance_size = sizeof(Pool);
        info.instance_init = instance_init;
        return g_type_register_static(GST_TYPE_BUFFER_POOL, "SpecklescopePool", &info,
                                      static_cast<GTypeFlags>(0));
    }();
    return type;
}

} // namespace

Owned<GstBufferPool> make_pool(specklescope_chain* chain, GstCaps* caps, guint size, guint least) {
    auto* made = static_cast<GstBufferPool*>(g_object_new(pool_type(), nullptr));
    Owned<GstBufferPool> pool(static_cast<GstBufferPool*>(gst_object_ref_sink(made)));
    state_of(made).chain = chain;
    GstStructure* const config = gst_buffer_pool_get_config(made);
    gst_buffer_pool_config_set_params(config, caps, size, least, 0);
    if (!gst_buffer_pool_set_config(made, config))
        pool.reset();
    return pool;
}

} // namespace specklescope::element
