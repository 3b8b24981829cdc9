#include "gst/pool.hpp"

#include "gst/formats.hpp"

#include <algorithm>
#include <atomic>

namespace specklescope::element {

namespace {

constexpr guint kMostBytes = guint{256} << 20, kFewest = 4, kMost = 16;
constexpr gsize kAlign = 63; // GStreamer uses a mask
constexpr guint kReady = 2;  // one is written while the other is read

/// Buffers alive, also those that their pool has released.
using Count = std::atomic<guint>;

struct AllocatorState {
    specklescope_chain* chain = nullptr; ///< a handle: refused once the chain has ended
    std::shared_ptr<Count> locked = std::make_shared<Count>(0);
    std::atomic<bool> refused{false};
};

struct Allocator {
    GstAllocator base;
    AllocatorState* state; ///< created with the instance, ends with it
};

GstAllocatorClass* parent_class = nullptr;

/// Memory of a buffer; counted while it lives.
struct Taken {
    Room room;
    std::shared_ptr<Count> locked;
    Taken(std::shared_ptr<Count> count, Room&& taken) : room(std::move(taken)), locked(std::move(count)) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
        room.owner.reset();
        --*locked;
    }
};

GstMemory* allocate_locked(AllocatorState& state, gsize size, const GstAllocationParams& params) {
    Room room = make_room(state.chain, params.prefix + size + params.padding + params.align);
    auto* const data = static_cast<std::byte*>(room.data);
    auto* const begin = data + (-reinterpret_cast<std::uintptr_t>(data) & params.align);
    auto taken = std::make_unique<Taken>(state.locked, std::move(room));
    return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), begin,
                                  params.prefix + size + params.padding, params.prefix, size, taken.release(),
                                  [](gpointer gone) { delete static_cast<Taken*>(gone); });
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
    AllocatorState& state = *reinterpret_cast<Allocator*>(allocator)->state;
    const auto bytes = static_cast<guint>(std::clamp<gsize>(size, 1, kMostBytes));
    if (!state.refused && ++*state.locked <= std::clamp(kMostBytes / bytes, kFewest, kMost)) {
        try {
            return allocate_locked(state, size, *params);
        } catch (const std::exception& refusal) { // slower, but equivalent
            state.refused = true;
            GST_WARNING_OBJECT(allocator, "buffers in ordinary memory: %s", refusal.what());
        }
    }
    --*state.locked;
    return gst_allocator_alloc(nullptr, size, params);
}

GType allocator_type() {
    static const GType type = [] {
        GTypeInfo info{};
        info.class_size = sizeof(GstAllocatorClass);
        info.class_init = [](gpointer klass, gpointer) {
            parent_class = static_cast<GstAllocatorClass*>(g_type_class_peek_parent(klass));
            static_cast<GstAllocatorClass*>(klass)->alloc = allocate;
            static_cast<GObjectClass*>(klass)->finalize = [](GObject* object) {
                const std::unique_ptr<AllocatorState> state(reinterpret_cast<Allocator*>(object)->state);
                G_OBJECT_CLASS(parent_class)->finalize(object);
            };
        };
        info.instance_size = sizeof(Allocator);
        info.instance_init = [](GTypeInstance* instance, gpointer) {
            reinterpret_cast<Allocator*>(instance)->state = std::make_unique<AllocatorState>().release();
        };
        return g_type_register_static(GST_TYPE_ALLOCATOR, "SpecklescopeAllocator", &info,
                                      static_cast<GTypeFlags>(0));
    }();
    return type;
}

Owned<GstAllocator> make_allocator(specklescope_chain* chain) {
    auto* made = static_cast<Allocator*>(g_object_new(allocator_type(), nullptr));
    made->state->chain = chain;
    return Owned<GstAllocator>(static_cast<GstAllocator*>(gst_object_ref_sink(&made->base)));
}

GstAllocationParams aligned() {
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = kAlign;
    return params;
}

Owned<GstBufferPool> pool_on(GstAllocator* allocator, GstCaps* caps, guint size, guint least) {
    const std::size_t packed = frame_bytes(caps);
    if (packed == 0 || packed > size)
        return nullptr;
    GstVideoInfo info;
    Owned<GstBufferPool> pool(gst_video_info_from_caps(&info, caps) ? gst_video_buffer_pool_new()
                                                                    : gst_buffer_pool_new());
    const GstAllocationParams params = aligned();
    GstStructure* const config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, caps, size, least, 0);
    gst_buffer_pool_config_set_allocator(config, allocator, &params);
    if (!gst_buffer_pool_set_config(pool.get(), config))
        pool.reset();
    return pool;
}

} // namespace

Owned<GstBufferPool> make_pool(specklescope_chain* chain, GstCaps* caps, guint size, guint least) {
    return pool_on(make_allocator(chain).get(), caps, size, least);
}

void offer_pool(specklescope_chain* chain, GstQuery* query) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    GstCaps* caps = nullptr;
    gboolean wanted = FALSE;
    gst_query_parse_allocation(query, &caps, &wanted);
    const std::optional<InputFormat> input = caps ? input_format(caps) : std::nullopt;
    if (!wanted || !chain || !input || input->cuda || frame_bytes(caps) > G_MAXUINT)
        return;
    const auto size = static_cast<guint>(frame_bytes(caps));
    const Owned<GstAllocator> allocator = make_allocator(chain);
    const Owned<GstBufferPool> pool = pool_on(allocator.get(), caps, size, kReady);
    if (!pool)
        return;
    const GstAllocationParams params = aligned();
    gst_query_add_allocation_param(query, allocator.get(), &params);
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
    if (output->bytes <= G_MAXUINT) // the next element may expect other frames
        size = std::max(size, static_cast<guint>(output->bytes));
    if (!pool && chain && output->bytes <= G_MAXUINT) {
        const Owned<GstAllocator> ours = make_allocator(chain);
        pool = pool_on(ours.get(), caps, size, least);
        GstAllocator* theirs = nullptr;
        GstAllocationParams params = aligned();
        const bool any = gst_query_get_n_allocation_params(query) > 0;
        if (any)
            gst_query_parse_nth_allocation_param(query, 0, &theirs, &params);
        const Owned<GstAllocator> kept(theirs);
        params.align |= kAlign;
        if (any && !theirs)
            gst_query_set_nth_allocation_param(query, 0, ours.get(), &params);
        else if (!any)
            gst_query_add_allocation_param(query, ours.get(), &params);
    }
    if (pool && told)
        gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, least, most);
    else if (pool)
        gst_query_add_allocation_pool(query, pool.get(), size, least, most);
}

} // namespace specklescope::element
