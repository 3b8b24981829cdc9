// A pool of buffers in memory that a chain reads and writes at full speed.
#pragma once

#include "gst/library.hpp"
#include "gst/owners.hpp"

namespace specklescope::element {

/// For frames and results of `chain`, a key; `size`: bytes of a frame of `caps`, or more. `least` buffers are
/// made when it becomes active. Asked for video's meta, it lays rows a multiple of 64 bytes apart; asked for
/// video's alignment too, with the border that is wanted around the picture. At most 16
/// of its buffers, of large frames fewer, lie in that memory at once; what is asked for beyond lies in memory
/// as any other and is not kept: nobody waits for a buffer, however many a queue in between holds. Empty
/// where `caps` have no frames.
Owned<GstBufferPool> make_pool(specklescope_chain* chain, GstCaps* caps, guint size, guint least);

} // namespace specklescope::element
