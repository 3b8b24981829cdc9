// Which caps go out for those that come in. Edits are taken in between two frames and in front of new caps,
// and nowhere else: all of one negotiation sees one chain and one view, whoever edits them meanwhile.
#pragma once

#include "gst/element.hpp"

namespace specklescope::element {

// The streaming thread.
/// Takes in the edits that wait, for frames of `caps`, and tells what is made of them. What does not fit them
/// or what follows is a warning, and the chain goes on as it was. Throws Refusal where that does not fit.
specklescope_image take_edits(Element& element, const InputFormat& input, const GstCaps* caps);
/// Of what `state` says of input, output and the chain's result. Throws Refusal.
void make_frames(State& state);

// As GstBaseTransform calls them.
GstCaps* transform_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* filter);
GstCaps* fixate_caps(GstBaseTransform* base, GstPadDirection direction, GstCaps* caps, GstCaps* other);
gboolean set_caps(GstBaseTransform* base, GstCaps* in, GstCaps* out);

} // namespace specklescope::element
