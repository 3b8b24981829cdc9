// Buffers in host memory that a chain reads and writes at full speed (page-locked for a chain on a GPU).
#pragma once

#include "gst/library.hpp"
#include "gst/owners.hpp"

namespace specklescope::element {

/// GStreamer pool on such memory, for frames of `caps`; `size`: at least the bytes of a frame. Empty if
/// `caps` have no frames. `chain` is only a handle: a pool may outlive the chain, and new buffers then use
/// ordinary memory. So do buffers beyond 16 (fewer large ones), because locked memory is scarce.
Owned<GstBufferPool> make_pool(specklescope_chain* chain, GstCaps* caps, guint size, guint least);

/// Answers the allocation query of the previous element: accepts GstVideoMeta and recommends a pool of this
/// kind for host frames. `chain`: null if none runs.
void offer_pool(specklescope_chain* chain, GstQuery* query);
/// Completes an allocation query after the next element has answered: adds a pool of this kind if there is
/// none.
void choose_pool(specklescope_chain* chain, GstQuery* query);

} // namespace specklescope::element
