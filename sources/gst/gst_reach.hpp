// How far elements may reach: a file is a file.
#pragma once

#include <gst/gst.h>

namespace specklescope {

/// Holds a decodebin to containers on a list, parsers and decoders: nothing that follows an address, whatever
/// the stream says (HLS, DASH, SDP, …). What is refused is an error on the bus. `packets`: depayloaders of
/// RTP too.
void allow_codecs_only(GstElement* decodebin, bool packets = false);

/// A decodebin may use this element: a container of the list, a parser, a decoder or a depayloader.
bool is_codec(GstElementFactory* factory);

} // namespace specklescope
