// Buffers in memory of the host that a chain reads and writes at full speed (page-locked for a chain on a
// GPU).
#pragma once

#include "gst/library.hpp"
#include "gst/owners.hpp"

namespace specklescope::element {

/// One of GStreamer's pools on such memory, for frames of `caps`; `size`: bytes of a frame or more. Empty if
/// `caps` have no frames. `chain` is only a handle: a pool may outlive the chain, and new buffers then lie in
/// ordinary memory. So do buffers beyond 16 (fewer large ones), because locked memory is scarce.
Owned<GstBufferPool> make_pool(specklescope_chain* chain, GstCaps* caps, guint size, guint least);

/// Answers the allocation query of the element before this one: rows may lie as a GstVideoMeta tells, and
/// frames of the host are best made in a pool of this kind. `chain`: null if none runs.
void offer_pool(specklescope_chain* chain, GstQuery* query);
/// Completes an allocation query that the next element has answered: a pool of this kind if it has none.
void choose_pool(specklescope_chain* chain, GstQuery* query);

} // namespace specklescope::element
