// Codec decoded by a pipeline. Inside sources/gst/ only.
#pragma once

#include <gst/gst.h>

#include <string>

namespace specklescope {

/// "H.264": the first lossy video codec among the decoders' inputs in this bin; empty if there is none. Call
/// it after a frame has arrived.
std::string lossy_codec(GstElement* bin);

} // namespace specklescope
