// Restricts the elements used for a file, so that only the file is read.
#pragma once

#include <gst/gst.h>

namespace specklescope {

/// Restricts a decodebin to containers on a list, parsers and decoders: nothing that follows addresses in a
/// stream (HLS, DASH, SDP, …). Refusals are errors on the bus. `packets`: also RTP depayloaders.
void allow_codecs_only(GstElement* decodebin, bool packets = false);

/// True if a decodebin may use this element: a container on the list, a parser, a decoder or a depayloader.
bool is_codec(GstElementFactory* factory);

} // namespace specklescope
