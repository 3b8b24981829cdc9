// Output caps for input caps. Edits are applied only between two frames and before new caps, so that one
// negotiation sees one chain and one view.
#pragma once

#include "gst/element.hpp"

namespace specklescope::element {

// The streaming thread.
/// Applies pending edits for frames of `caps` and returns the shape of the results. Edits that do not fit the
/// frames or the next element are undone with a warning. Throws Refusal if the chain before them does not
/// fit.
specklescope_image take_edits(Element& element, const InputFormat& input, const GstCaps* caps);
/// Creates state.frames for the input, the output and the chain's result. Throws Refusal.
void make_frames(State& state);

// Virtual functions of GstBaseTransform.
GstCaps* transform_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* filter);
GstCaps* fixate_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* other);
gboolean set_caps(GstBaseTransform* base, GstCaps* in, GstCaps* out);

} // namespace specklescope::element
