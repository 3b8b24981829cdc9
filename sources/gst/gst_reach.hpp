// How far elements may reach: a file is a file, and a gst: text reads.
#pragma once

#include <gst/gst.h>

#include <string>

namespace specklescope {

/// Holds a decodebin to containers on a list, parsers and decoders: nothing that follows an address, whatever
/// the stream says (HLS, DASH, SDP, …). What is refused is an error on the bus. `packets`: depayloaders of
/// RTP too.
void allow_codecs_only(GstElement* decodebin, bool packets = false);

/// Why this element must not be in a gst: text that is not trusted, "filesink writes"; empty where it may.
/// Judged by what its factory says of itself (klass, flags, properties), and for the network by a list of
/// those that only ask others.
std::string reaches_out(GstElement* element);
/// The first such reason of all elements of a bin.
std::string any_reaches_out(GstElement* bin);
/// Elements that come into the bin later (of playbin, uridecodebin) are held back, with an error on the bus.
void hold_back_what_reaches_out(GstElement* bin);

} // namespace specklescope
