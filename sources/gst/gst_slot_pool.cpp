// The GstBufferPool of offer_slots(): returns a slot if one is available, else memory of its own.
#include "base/error.hpp"
#include "sources/gst/gst_slots.hpp"

#include <algorithm>
#include <optional>

namespace specklescope {

namespace {

struct PoolState {
    std::shared_ptr<SlotLender> lender;
    GstVideoInfo info{}; ///< with the strides of its buffers
    Shape shape;
    bool padded = false;   ///< its user reads the strides from GstVideoMeta
    bool in_slots = false; ///< its user accepts the row layout of slots
};

struct SlotPool {
    GstBufferPool base;
    PoolState* state; ///< created by new_pool(), deleted by finalize()
};

GstBufferPoolClass* parent_class = nullptr;

PoolState& state_of(GstBufferPool* pool) { return *reinterpret_cast<SlotPool*>(pool)->state; }

GQuark loan_quark() {
    static const GQuark quark = g_quark_from_static_string("specklescope-loan");
    return quark;
}
GQuark reason_quark() {
    static const GQuark quark = g_quark_from_static_string("specklescope-copy-reason");
    return quark;
}

SlotLoan* loan_of(GstBuffer* buffer) {
    if (gst_buffer_n_memory(buffer) != 1)
        return nullptr;
    return static_cast<SlotLoan*>(
        gst_mini_object_get_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, 0)), loan_quark()));
}

/// Nothing for caps whose frames a slot cannot hold.
std::optional<PixelLayout> slot_layout(const GstCaps* caps) {
    try {
        const PixelLayout layout = layout_of(caps, "the pipeline");
        return layout.as_in_slot() ? std::optional(layout) : std::nullopt;
    } catch (const Error&) { // reported with the first frame of these caps
        return std::nullopt;
    }
}

const gchar** options(GstBufferPool*) {
    static const gchar* list[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
    return list;
}

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
    GstCaps* caps = nullptr;
    guint size = 0;
    if (!gst_buffer_pool_config_get_params(config, &caps, &size, nullptr, nullptr) || !caps)
        return FALSE;
    const std::optional<PixelLayout> layout = slot_layout(caps);
    if (!layout)
        return FALSE;
    PoolState& state = state_of(pool);
    state.shape = layout->shape;
    state.info = layout->info;
    state.padded = gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    const std::size_t pitch = slot_pitch(state.shape, Space::host);
    const std::size_t slot_bytes = pitch * static_cast<std::size_t>(state.shape.height);
    if (state.padded) {
        state.info.stride[0] = static_cast<gint>(pitch);
        state.info.size = slot_bytes;
    }
    state.info.size = std::max<gsize>(state.info.size, size);
    state.in_slots = static_cast<std::size_t>(state.info.stride[0]) == pitch && state.info.size <= slot_bytes;
    // No preallocation and no limit: slots come from the ring, and an element that keeps many (a decoder's
    // reference frames) must not block.
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(state.info.size), 0, 0);
    order_threads();
    return parent_class->set_config(pool, config);
}

void tell_strides(GstBuffer* buffer, PoolState& state) {
    if (!state.padded)
        return;
    GstVideoMeta* meta = gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&state.info),
        static_cast<guint>(state.shape.width), static_cast<guint>(state.shape.height), 1, state.info.offset,
        state.info.stride);
    meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags | GST_META_FLAG_POOLED);
}

/// Own memory, which the base class keeps for reuse.
GstFlowReturn alloc_buffer(GstBufferPool* pool, GstBuffer** buffer, GstBufferPoolAcquireParams*) {
    GstAllocationParams params{};
    params.align = 63;
    PoolState& state = state_of(pool);
    *buffer = gst_buffer_new_allocate(nullptr, state.info.size, &params);
    if (!*buffer)
        return GST_FLOW_ERROR;
    tell_strides(*buffer, state);
    return GST_FLOW_OK;
}

GstBuffer* slot_buffer(std::unique_ptr<SlotLoan> loan, PoolState& state) {
    void* bytes = loan->host().data;
    SlotLoan* held = loan.release();
    GstMemory* memory =
        gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), bytes, state.info.size, 0, state.info.size,
                               held, [](gpointer end) { delete static_cast<SlotLoan*>(end); });
    gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), loan_quark(), held, nullptr);
    GstBuffer* buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, memory);
    tell_strides(buffer, state);
    return buffer;
}

GstFlowReturn acquire_buffer(GstBufferPool* pool, GstBuffer** buffer, GstBufferPoolAcquireParams* params) {
    order_threads();
    PoolState& state = state_of(pool);
    CopyReason reason = CopyReason::tight_rows;
    if (state.in_slots) {
        const bool at_once = params && params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
        const auto cancelled = [pool, at_once] { return at_once || GST_BUFFER_POOL_IS_FLUSHING(pool); };
        if (auto loan = state.lender->take(state.shape, cancelled, reason)) {
            *buffer = slot_buffer(std::move(loan), state);
            order_threads();
            return GST_FLOW_OK;
        }
    }
    const GstFlowReturn flow = parent_class->acquire_buffer(pool, buffer, params);
    if (flow == GST_FLOW_OK)
        gst_mini_object_set_qdata(GST_MINI_OBJECT(*buffer), reason_quark(),
                                  GINT_TO_POINTER(static_cast<int>(reason)), nullptr);
    return flow;
}

void release_buffer(GstBufferPool* pool, GstBuffer* buffer) {
    // The memory of a slot stays valid for other holders; the buffer is recreated.
    if (loan_of(buffer))
        gst_buffer_unref(buffer);
    else
        parent_class->release_buffer(pool, buffer);
}

void finalize(GObject* object) {
    order_threads();
    delete reinterpret_cast<SlotPool*>(object)->state;
    G_OBJECT_CLASS(parent_class)->finalize(object);
}

void class_init(gpointer class_struct, gpointer) {
    parent_class = static_cast<GstBufferPoolClass*>(g_type_class_peek_parent(class_struct));
    auto* pool_class = static_cast<GstBufferPoolClass*>(class_struct);
    G_OBJECT_CLASS(class_struct)->finalize = finalize;
    pool_class->get_options = options;
    pool_class->set_config = set_config;
    pool_class->alloc_buffer = alloc_buffer;
    pool_class->acquire_buffer = acquire_buffer;
    pool_class->release_buffer = release_buffer;
}

GstHandle<GstBufferPool> new_pool(const std::shared_ptr<SlotLender>& lender) {
    static const GType type = g_type_register_static_simple(
        GST_TYPE_BUFFER_POOL, "SpecklescopeSlotPool", sizeof(GstBufferPoolClass), class_init,
        sizeof(SlotPool), nullptr, static_cast<GTypeFlags>(0));
    auto* pool = static_cast<SlotPool*>(g_object_new(type, nullptr));
    pool->state = new PoolState{};
    pool->state->lender = lender;
    return GstHandle<GstBufferPool>(GST_BUFFER_POOL(gst_object_ref_sink(pool)));
}

/// On the streaming thread that is about to allocate buffers.
GstPadProbeReturn answer(GstPad*, GstPadProbeInfo* info, gpointer lender) {
    GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    order_threads();
    GstCaps* caps = nullptr;
    gboolean wants_pool = FALSE;
    gst_query_parse_allocation(query, &caps, &wants_pool);
    // Row padding is allowed in any memory: the copy handles it too.
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    const std::optional<PixelLayout> layout = caps && wants_pool ? slot_layout(caps) : std::nullopt;
    if (!layout)
        return GST_PAD_PROBE_HANDLED;
    const auto size = static_cast<guint>(slot_pitch(layout->shape, Space::host) *
                                         static_cast<std::size_t>(layout->shape.height));
    const GstHandle<GstBufferPool> pool = new_pool(*static_cast<std::shared_ptr<SlotLender>*>(lender));
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
    if (gst_buffer_pool_set_config(pool.get(), config))
        gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
    return GST_PAD_PROBE_HANDLED;
}

/// On the streaming thread: a buffer arriving here belongs only to the sink, unless an element kept it. Later
/// the sink's own references would count.
GstPadProbeReturn arriving(GstPad*, GstPadProbeInfo* info, gpointer) {
    order_threads();
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    SlotLoan* loan = loan_of(buffer);
    if (loan && GST_MINI_OBJECT_REFCOUNT_VALUE(buffer) == 1 &&
        GST_MINI_OBJECT_REFCOUNT_VALUE(gst_buffer_peek_memory(buffer, 0)) == 1)
        loan->arrived_alone();
    order_threads();
    return GST_PAD_PROBE_OK;
}

} // namespace

void offer_slots(GstElement* sink, const std::shared_ptr<SlotLender>& lender) {
    const GstHandle<GstPad> pad(gst_element_get_static_pad(sink, "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer,
                      new std::shared_ptr<SlotLender>(lender),
                      [](gpointer held) { delete static_cast<std::shared_ptr<SlotLender>*>(held); });
    order_threads();
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, arriving, nullptr, nullptr);
}

Frame frame_in_place(GstBuffer* buffer, const PixelLayout& layout, CopyReason& reason) {
    order_threads();
    if (!layout.as_in_slot()) {
        reason = CopyReason::other_order;
        return {};
    }
    SlotLoan* loan = loan_of(buffer);
    if (!loan) {
        const int told = GPOINTER_TO_INT(gst_mini_object_get_qdata(GST_MINI_OBJECT(buffer), reason_quark()));
        reason = told ? static_cast<CopyReason>(told) : CopyReason::foreign;
        return {};
    }
    const HostView slot = loan->host();
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    const gint stride = meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE(&layout.info, 0);
    const gsize start = meta ? meta->offset[0] : GST_VIDEO_INFO_PLANE_OFFSET(&layout.info, 0);
    gsize before = 0;
    const gsize bytes = gst_buffer_get_sizes(buffer, &before, nullptr);
    const gsize last_row = slot.pitch * static_cast<gsize>(slot.shape.height - 1);
    // An element may have cropped a frame.
    if (slot.shape != layout.shape || before + start != 0 || static_cast<std::size_t>(stride) != slot.pitch ||
        bytes < last_row + slot.shape.row_bytes()) {
        reason = CopyReason::foreign;
        return {};
    }
    reason = CopyReason::given_again;
    return loan->frame(buffer);
}

} // namespace specklescope
