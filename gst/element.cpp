#include "gst/element.hpp"

#include "gst/cuda_library.hpp"
#include "gst/negotiation.hpp"
#include "gst/pool.hpp"
#include "gst/result_meta.hpp"

#include <utility>

namespace specklescope::element {

namespace {

GstBaseTransformClass* parent_class = nullptr;

Element& element_of(gpointer instance) { return *static_cast<Element*>(instance); }

/// Answers queries of other elements for a CUDA context.
gboolean query(GstBaseTransform* base, GstPadDirection direction, GstQuery* asked) {
    if (GST_QUERY_TYPE(asked) == GST_QUERY_CONTEXT) {
        State& state = state_of(base);
        std::string options;
        {
            const std::scoped_lock lock(state.lock);
            options = state.options;
        }
        try {
            if (answer_context(GST_ELEMENT(base), asked, options))
                return TRUE;
        } catch (const std::exception& refusal) { // the chain reports this error when it starts
            GST_DEBUG_OBJECT(base, "%s", refusal.what());
        }
    }
    return parent_class->query(base, direction, asked);
}

gboolean get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
    *size = frame_bytes(caps);
    return *size > 0;
}

/// Input rows may have padding; the output has the size of its caps.
gboolean transform_size(GstBaseTransform* base, GstPadDirection, GstCaps*, gsize, GstCaps* other,
                        gsize* size) {
    return get_unit_size(base, other, size);
}

gboolean propose_allocation(GstBaseTransform* base, GstQuery* decided, GstQuery* query) {
    if (!parent_class->propose_allocation(base, decided, query))
        return FALSE;
    offer_pool(state_of(base).chain.key(), query);
    return TRUE;
}

gboolean decide_allocation(GstBaseTransform* base, GstQuery* query) {
    choose_pool(state_of(base).chain.key(), query);
    return parent_class->decide_allocation(base, query);
}

/// Applies pending edits with the new caps. Errors in these caps are reported during negotiation.
void take_edits_for(Element& element, GstEvent* event) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    try {
        if (const std::optional<InputFormat> input = input_format(caps))
            take_edits(element, *input, caps);
    } catch (const std::exception& refusal) {
        GST_DEBUG_OBJECT(&element, "%s", refusal.what());
    }
}

bool goes_on_from(const GstSegment& before, const GstSegment& now) {
    return before.format == now.format && before.rate == now.rate && before.start == now.start &&
           before.time == now.time && before.base == now.base && before.offset == now.offset;
}

gboolean sink_event(GstBaseTransform* base, GstEvent* event) {
    State& state = state_of(base);
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        take_edits_for(element_of(base), event);
        break;
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_STREAM_START:
        state.restart = true;
        break;
    case GST_EVENT_SEGMENT: {
        GstSegment now;
        gst_event_copy_segment(event, &now);
        if (!goes_on_from(state.segment, now))
            state.restart = true;
        state.segment = now;
        break;
    }
    default:
        break;
    }
    return parent_class->sink_event(base, event);
}

void end(State& state) {
    {
        const std::scoped_lock lock(state.lock);
        if (state.started.exchange(false)) // edits refused while running were reported already
            state.wrong.clear();
    }
    state.chain.stop();
}

gboolean start(GstBaseTransform* base) {
    Element& element = element_of(base);
    State& state = *element.state;
    std::string options, regions;
    {
        const std::scoped_lock lock(state.lock);
        options = state.options;
        regions = state.regions;
        if (!state.output_name.empty())
            options += (options.empty() ? "show=" : ",show=") + state.output_name;
    }
    if (!check_properties(element))
        return FALSE;
    try {
        state.chain.start(options, regions);
        state.view.start();
    } catch (const std::exception& refusal) {
        end(state);
        post_error(element, refusal.what());
        return FALSE;
    }
    gst_segment_init(&state.segment, GST_FORMAT_UNDEFINED);
    state.told_automatic = state.told_luma = false;
    state.restart = true;
    return TRUE;
}

gboolean stop(GstBaseTransform* base) {
    State& state = state_of(base);
    end(state);
    state.frames.reset();
    state.input.reset();
    state.output.reset();
    return TRUE;
}

/// Applies edits between two frames, and renegotiates caps if they change the output.
GstFlowReturn take_edits_between(Element& element) {
    State& state = *element.state;
    GstBaseTransform* const base = &element.base;
    try {
        if (state.view.settle() && state.output->sent == Sent::levels)
            gst_base_transform_reconfigure_src(base);
    } catch (const std::exception& refusal) {
        post_warning(element, refusal.what());
    }
    const Owned<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(base)));
    if (!caps) // the pad is being shut down
        return GST_FLOW_FLUSHING;
    try {
        if (!same_shape(take_edits(element, *state.input, caps.get()), state.made))
            gst_base_transform_reconfigure_src(base);
        // A chain may take long; the pad may be flushing in the meantime.
        return GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(base)) ? GST_FLOW_FLUSHING : GST_FLOW_OK;
    } catch (const Refusal& refusal) {
        if (refusal.status() == SPECKLESCOPE_CANCELLED)
            return GST_FLOW_FLUSHING;
        post_error(element, refusal.what());
    } catch (const std::exception& failure) {
        post_error(element, failure.what());
    }
    return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* base, gboolean discont, GstBuffer* given) {
    Owned<GstBuffer> buffer(given);
    Element& element = element_of(base);
    const GstClockTime time =
        base->segment.format == GST_FORMAT_TIME
            ? gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer.get()))
            : GST_CLOCK_TIME_NONE;
    if (GST_CLOCK_TIME_IS_VALID(time))
        follow_controllers(element, time);
    if (element.state->input)
        if (const GstFlowReturn flow = take_edits_between(element); flow != GST_FLOW_OK)
            return flow;
    return parent_class->submit_input_buffer(base, discont, buffer.release());
}

GstFlowReturn transform(GstBaseTransform* base, GstBuffer* from, GstBuffer* to) {
    Element& element = element_of(base);
    State& state = *element.state;
    auto facts = sized<specklescope_facts>();
    const GstClockTime time =
        gst_segment_to_stream_time(&base->segment, base->segment.format, GST_BUFFER_PTS(from));
    facts.time_ns = GST_CLOCK_TIME_IS_VALID(time) ? static_cast<std::int64_t>(time) : 0;
    facts.exposure_ms = state.exposure_ms;
    facts.full_scale = state.full_scale;
    facts.discontinuity = state.restart.exchange(false) ? 1 : 0;
    facts.warming_up = made_in_warmup(from) ? 1 : 0;
    try {
        if (!same_shape(state.frames->made(), state.made)) // the pixel type changed, with the same image size
            make_frames(state);
        state.frames->carry_values(state.values);
        state.frames->process(state.chain, state.view, from, facts, to);
        return GST_FLOW_OK;
    } catch (const Refusal& refusal) {
        if (refusal.status() == SPECKLESCOPE_CANCELLED)
            return GST_FLOW_FLUSHING;
        post_error(element, refusal.what());
    } catch (const std::exception& failure) {
        post_error(element, failure.what());
    }
    return GST_FLOW_ERROR;
}

GstStateChangeReturn change_state(GstElement* instance, GstStateChange change) {
    if (change == GST_STATE_CHANGE_PAUSED_TO_READY) // cancels a long preparation
        state_of(instance).chain.cancel();
    return GST_ELEMENT_CLASS(parent_class)->change_state(instance, change);
}

void finalize(GObject* object) {
    const std::unique_ptr<State> state(element_of(object).state);
    G_OBJECT_CLASS(parent_class)->finalize(object);
}

void add_pad(GstElementClass* element_class, const char* name, GstPadDirection direction,
             const Owned<GstCaps>& caps) {
    gst_element_class_add_pad_template(element_class,
                                       gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get()));
}

std::string description() {
    const CudaLibrary& cuda = cuda_library();
    return "Runs a chain of Specklescope's stages on every frame: numbers as application/x-specklescope, "
           "other/tensors or "
           "as "
           "GRAY16_LE with a scale, or colours of the view. A result leaves with the frame that completes "
           "it, so "
           "that histories add no latency; what is known of it is in the meta SpecklescopeResult of its "
           "buffer. " +
           (cuda ? "Frames in CUDAMemory are read where they lie, by a chain on that GPU; results are in "
                   "host memory"
                 : "Frames in CUDAMemory are not taken here: " + cuda.missing);
}

void class_init(gpointer klass, gpointer) {
    parent_class = static_cast<GstBaseTransformClass*>(g_type_class_peek_parent(klass));
    auto* object_class = static_cast<GObjectClass*>(klass);
    object_class->set_property = set_property;
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    install_properties(object_class);
    auto* element_class = static_cast<GstElementClass*>(klass);
    element_class->change_state = change_state;
    gst_element_class_set_metadata(element_class, "Speckle contrast and flow", "Filter/Effect/Video",
                                   description().c_str(), "The Specklescope authors");
    add_pad(element_class, "sink", GST_PAD_SINK, sink_template());
    add_pad(element_class, "src", GST_PAD_SRC, source_template());
    auto* base_class = static_cast<GstBaseTransformClass*>(klass);
    base_class->passthrough_on_same_caps = FALSE;
    base_class->transform_caps = transform_caps;
    base_class->fixate_caps = fixate_caps;
    base_class->set_caps = set_caps;
    base_class->get_unit_size = get_unit_size;
    base_class->transform_size = transform_size;
    base_class->query = query;
    base_class->propose_allocation = propose_allocation;
    base_class->decide_allocation = decide_allocation;
    base_class->sink_event = sink_event;
    base_class->start = start;
    base_class->stop = stop;
    base_class->submit_input_buffer = submit_input_buffer;
    base_class->transform = transform;
}

void instance_init(GTypeInstance* instance, gpointer) {
    element_of(instance).state = std::make_unique<State>().release();
    gst_base_transform_set_in_place(GST_BASE_TRANSFORM(instance), FALSE);
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(instance), TRUE);
}

} // namespace

State& state_of(gpointer element) { return *element_of(element).state; }

void post_error(Element& element, const std::string& sentence) {
    GST_ELEMENT_ERROR(&element, LIBRARY, SETTINGS, ("%s", sentence.c_str()), (nullptr));
}

void post_warning(Element& element, const std::string& sentence) {
    GST_ELEMENT_WARNING(&element, LIBRARY, SETTINGS, ("%s", sentence.c_str()), (nullptr));
}

GType element_type() {
    static const GType type = [] {
        GTypeInfo info{};
        info.class_size = sizeof(GstBaseTransformClass);
        info.class_init = class_init;
        info.instance_size = sizeof(Element);
        info.instance_init = instance_init;
        return g_type_register_static(GST_TYPE_BASE_TRANSFORM, "SpecklescopeElement", &info,
                                      static_cast<GTypeFlags>(0));
    }();
    return type;
}

} // namespace specklescope::element
