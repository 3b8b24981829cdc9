#include "sources/gst/gst_slots.hpp"

#include <gst/base/gstbasetransform.h>

#include <utility>

namespace specklescope {

void SlotLender::serve(std::shared_ptr<FrameRing> ring, int most, bool wait) {
    const std::scoped_lock lock(mutex_);
    terms_ = {std::move(ring), most, wait};
}

void SlotLender::stop() { serve(nullptr, 0, false); }

std::optional<SlotLender::Terms> SlotLender::terms_for(const Shape& shape) const {
    const std::scoped_lock lock(mutex_);
    return terms_.ring && terms_.ring->shape() == shape ? std::optional(terms_) : std::nullopt;
}

bool SlotLender::serves(const Shape& shape) const { return terms_for(shape).has_value(); }

std::unique_ptr<SlotLoan> SlotLender::take(const Shape& shape, const std::function<bool()>& cancelled,
                                           CopyReason& reason) {
    constexpr std::chrono::milliseconds kSlice{10}; // check interval for an abandoned request
    const int out = lent_.fetch_add(1);
    for (;;) {
        const std::optional<Terms> terms = terms_for(shape);
        const bool wait = terms && terms->wait && !nonblocking_ && !cancelled();
        reason = !terms               ? CopyReason::not_lent
                 : out >= terms->most ? CopyReason::too_many
                                      : CopyReason::no_slot;
        if (reason != CopyReason::no_slot)
            break;
        if (LentSlot slot = terms->ring->lend(wait ? kSlice : std::chrono::milliseconds(0)))
            return std::make_unique<SlotLoan>(std::move(slot), shared_from_this());
        if (!wait)
            break;
    }
    --lent_;
    return nullptr;
}

void order_threads() {
#ifdef SPECKLESCOPE_THREAD_SANITIZER // CMake's, with SPECKLESCOPE_SANITIZE=thread
    static std::atomic<std::uint32_t> turns{0};
    turns.fetch_add(1, std::memory_order_acq_rel);
#endif
}

SlotLoan::~SlotLoan() {
    order_threads();
    came_back();
}

void SlotLoan::came_back() {
    if (!back_.exchange(true))
        --lender_->lent_;
}

Frame SlotLoan::frame(GstBuffer* buffer) {
    if (given_.exchange(true))
        return {};
    // Otherwise the slot is lent as long as the memory exists, and an element may keep it indefinitely.
    if (alone_)
        came_back();
    return slot_.frame(std::shared_ptr<void>(gst_buffer_ref(buffer), [](void* held) {
        order_threads();
        gst_buffer_unref(static_cast<GstBuffer*>(held));
    }));
}

namespace {

/// The pad that feeds this one, across bins; null if there is none.
GstHandle<GstPad> feeding(GstPad* sink) {
    GstHandle<GstPad> pad(gst_pad_get_peer(sink));
    while (pad && GST_IS_PROXY_PAD(pad.get())) {
        if (GST_IS_GHOST_PAD(pad.get())) // a bin's output: use the pad inside
            pad.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(pad.get())));
        else { // the inner side of a bin's input: use the pad outside
            const GstHandle<GstPad> wall(GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(pad.get()))));
            pad.reset(wall ? gst_pad_get_peer(wall.get()) : nullptr);
        }
    }
    return pad;
}

/// True for an element that passes its input memory on: queues, tees, filters without changes.
bool passes_on(GstElement* element) {
    if (GST_IS_BASE_TRANSFORM(element)) {
        auto* transform = GST_BASE_TRANSFORM(element);
        return gst_base_transform_is_passthrough(transform) || gst_base_transform_is_in_place(transform);
    }
    const gchar* kind = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
    return kind && g_str_has_prefix(kind, "Generic");
}

GstHandle<GstPad> inside(GstPad* source) {
    GstIterator* links = gst_pad_iterate_internal_links(source);
    if (!links)
        return nullptr;
    GValue item = G_VALUE_INIT;
    GstPad* pad = nullptr;
    if (gst_iterator_next(links, &item) == GST_ITERATOR_OK) {
        pad = GST_PAD(g_value_dup_object(&item));
        g_value_unset(&item);
    }
    gst_iterator_free(links);
    return GstHandle<GstPad>(pad);
}

} // namespace

std::string memory_maker(GstElement* sink) {
    constexpr int kFarthest = 64;
    GstHandle<GstPad> pad(gst_element_get_static_pad(sink, "sink"));
    for (int step = 0; pad && step < kFarthest; ++step) {
        const GstHandle<GstPad> source = feeding(pad.get());
        const GstHandle<GstElement> element(source ? gst_pad_get_parent_element(source.get()) : nullptr);
        if (!element)
            break;
        pad = passes_on(element.get()) ? inside(source.get()) : nullptr;
        if (!pad) {
            GstElementFactory* factory = gst_element_get_factory(element.get());
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an element has a name
            return factory ? GST_OBJECT_NAME(factory) : GST_OBJECT_NAME(element.get());
        }
    }
    return "an element";
}

std::string to_string(CopyReason reason, const std::string& maker, const PixelLayout& layout) {
    switch (reason) {
    case CopyReason::none:
        break;
    case CopyReason::not_lent:
        return "the first, before slots were lent";
    case CopyReason::no_slot:
        return "no slot was free when they were made";
    case CopyReason::too_many:
        return "more were on their way than slots are lent";
    case CopyReason::tight_rows:
        return maker + " wants rows without padding";
    case CopyReason::given_again:
        return maker + " gave the same memory again";
    case CopyReason::other_order:
        return std::string("the samples of ") + GST_VIDEO_INFO_NAME(&layout.info) +
               (GST_VIDEO_INFO_IS_YUV(&layout.info) ? " are converted to RGB" : " are put in another order");
    case CopyReason::foreign:
        return maker + " brought its own memory";
    }
    return {};
}

} // namespace specklescope
