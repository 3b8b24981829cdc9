// Which codec a pipeline decodes. Inside sources/gst/ only.
#pragma once

#include <gst/gst.h>

#include <string>

namespace specklescope {

/// "H.264": the first lossy video codec that a decoder in this bin is fed with; empty if there is none. To be
/// asked when a frame has come through.
std::string lossy_codec(GstElement* bin);

} // namespace specklescope
