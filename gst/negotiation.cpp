#include "gst/negotiation.hpp"

#include <optional>
#include <utility>

namespace specklescope::element {

namespace {

struct Scale {
    double scale = 0, offset = 0;
};

/// Scale for the whole stream: of integers, or of a fixed range.
std::optional<Scale> scale_of(const State& state, const specklescope_image& made) {
    const bool floats = made.type == SPECKLESCOPE_F32;
    if (floats && state.view.automatic())
        return std::nullopt;
    float value = 0;
    std::uint16_t level = 0, one = 0;
    auto from = sized<specklescope_image>(), to = sized<specklescope_image>();
    from.data = floats ? static_cast<void*>(&value) : &level;
    from.type = floats ? SPECKLESCOPE_F32 : SPECKLESCOPE_U16;
    to.data = &one;
    to.type = SPECKLESCOPE_U16;
    from.width = from.height = to.width = to.height = 1;
    Scale found;
    check(specklescope_view_levels(state.view.colors(), &from, &to, &found.scale, &found.offset));
    return found;
}

bool are_levels(const GstCaps* caps) {
    const std::optional<OutputFormat> output = output_format(caps);
    return output && output->sent == Sent::levels;
}

/// Output caps if the next element accepts `taken`; empty: it does not accept such results.
Owned<GstCaps> agreed(const State& state, const specklescope_image& made, const GstCaps* in,
                      const GstCaps* taken) {
    Owned<GstCaps> result = caps_of_result(made, in, taken);
    if (gst_caps_is_empty(result.get()) || !are_levels(result.get()))
        return result;
    if (const std::optional<Scale> scale = scale_of(state, made))
        gst_caps_set_simple(result.get(), "scale", G_TYPE_DOUBLE, scale->scale, "offset", G_TYPE_DOUBLE,
                            scale->offset, nullptr);
    return result;
}

std::string misfit(const specklescope_image& made, const GstCaps* taken) {
    return "The chain makes " + words_of(made) + " of these frames, and what follows takes " +
           text_of(taken) + "; ask for a format and a size that hold it.";
}

std::string unknown_layout(const GstCaps* caps) {
    return "GStreamer does not know how frames of " + text_of(caps) + " lie in memory; send smaller ones.";
}

/// Queries the next element like GstBaseTransform, before any change. Empty: it accepts the result.
std::string objection(Element& element, const specklescope_image& made, const GstCaps* in, bool in_place) {
    GstPad* const pad = GST_BASE_TRANSFORM_SRC_PAD(&element.base);
    const Owned<GstCaps> possible = other_side(GST_PAD_SINK, in, in_place);
    Owned<GstCaps> taken(gst_pad_peer_query_caps(pad, possible.get()));
    taken.reset(gst_caps_intersect_full(taken.get(), possible.get(), GST_CAPS_INTERSECT_FIRST));
    const Owned<GstCaps> result = agreed(*element.state, made, in, taken.get());
    if (gst_caps_is_empty(result.get()) || !gst_pad_peer_query_accept_caps(pad, result.get()))
        return misfit(made, taken.get());
    return output_format(result.get()) ? "" : unknown_layout(result.get());
}

void tell_automatic(Element& element) {
    if (!std::exchange(element.state->told_automatic, true))
        GST_ELEMENT_INFO(&element, STREAM, FORMAT,
                         ("The range is automatic: scale and offset change with every frame and are in the "
                          "meta SpecklescopeResult of its buffer; set low and high for 16-bit numbers that "
                          "mean the same in every frame."),
                         (nullptr));
}

/// Warns that usual video luma has black at 16 of 255, which changes ratios of values.
void tell_range_of_luma(Element& element) {
    State& state = *element.state;
    const GstVideoInfo& info = state.input->info;
    if (info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 || std::exchange(state.told_luma, true))
        return;
    const bool wide = state.input->image.type == SPECKLESCOPE_U16;
    post_warning(element,
                 std::string("Luma of these frames goes from ") + (wide ? "4096 to 60160" : "16 to 235") +
                     ", and is taken as it lies; ask for colorimetry=1:4:0:0 in front of the element, or set "
                     "full-scale=" +
                     (wide ? "60160" : "235") +
                     " and begin the chain with background:black=" + (wide ? "4096" : "16") + ".");
}

} // namespace

specklescope_image take_edits(Element& element, const InputFormat& input, const GstCaps* caps) {
    State& state = *element.state;
    return state.chain.settle(
        input.image, {[&](const specklescope_image& made, bool in_place) {
                          const bool goes_out_already = state.input && state.output &&
                                                        same_shape(state.input->image, input.image) &&
                                                        same_shape(state.made, made);
                          return goes_out_already ? "" : objection(element, made, caps, in_place);
                      },
                      [&](const std::string& sentence) { post_warning(element, sentence); }});
}

void make_frames(State& state) {
    const int gpu = state.input->cuda ? state.chain.gpu() : -1;
    state.frames = std::make_unique<Frames>(*state.input, *state.output, state.made, gpu);
}

GstCaps* transform_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
    bool in_place = false;
    try {
        in_place = state_of(base).chain.in_place();
    } catch (const std::exception& refusal) { // the chain reports this error with the first frame
        GST_DEBUG_OBJECT(base, "%s", refusal.what());
    }
    Owned<GstCaps> other = other_side(direction, caps, in_place);
    if (filter)
        other.reset(gst_caps_intersect_full(filter, other.get(), GST_CAPS_INTERSECT_FIRST));
    return other.release();
}

GstCaps* fixate_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* other) {
    const Owned<GstCaps> taken(other);
    Element& element = *reinterpret_cast<Element*>(base);
    State& state = *element.state;
    if (direction == GST_PAD_SRC)
        return gst_caps_fixate(gst_caps_copy(taken.get()));
    const std::optional<InputFormat> input = input_format(caps);
    if (!input) {
        post_error(element, unknown_layout(caps));
        return gst_caps_new_empty();
    }
    try {
        const specklescope_image made = state.chain.output(input->image);
        Owned<GstCaps> result = agreed(state, made, caps, taken.get());
        if (gst_caps_is_empty(result.get())) {
            post_error(element, misfit(made, taken.get()));
            return result.release();
        }
        if (are_levels(result.get()) && !scale_of(state, made))
            tell_automatic(element);
        state.made = made;
        return result.release();
    } catch (const Refusal& refusal) {
        if (refusal.status() != SPECKLESCOPE_CANCELLED)
            post_error(element, refusal.what());
    } catch (const std::exception& failure) {
        post_error(element, failure.what());
    }
    return gst_caps_new_empty();
}

gboolean set_caps(GstBaseTransform* base, GstCaps* in, GstCaps* out) {
    Element& element = *reinterpret_cast<Element*>(base);
    State& state = *element.state;
    const std::optional<InputFormat> input = input_format(in);
    const std::optional<OutputFormat> output = output_format(out);
    if (!input || !output) {
        post_error(element, unknown_layout(input ? out : in));
        return FALSE;
    }
    state.input = input;
    state.output = output;
    if (input->luma && state.full_scale == 0)
        tell_range_of_luma(element);
    try {
        make_frames(state);
    } catch (const std::exception& refusal) {
        post_error(element, refusal.what());
        return FALSE;
    }
    return TRUE;
}

} // namespace specklescope::element
