// Colours and codec of a stream. Inside sources/gst/ only.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/frame.hpp"

#include <gst/gst.h>

#include <string>
#include <vector>

namespace specklescope {

/// Watches the input of `convert`. YUV without a stated range is taken as 16…235, without a matrix as BT.601
/// up to 576 rows and BT.709 above, like GStreamer. `sink`, an appsink, gets 16 bits for colours with more
/// than 8.
void obey_colours(GstElement* convert, GstElement* sink);

/// Uses the range stated in an H.264 or HEVC stream. The container's is used only without one in the stream,
/// because GStreamer's MP4 reader ignores the range.
void prefer_colours_of_streams(GstElement* pipeline, GstElement* sink);

/// New assumptions, and stated facts that are not applied, since the last call. Each sentence follows the
/// source's name.
std::vector<std::string> take_colour_notes(GstElement* sink);

/// Facts that the stream does not state, from its newest caps.
Assumptions colour_assumptions(GstElement* sink);

/// "H.264": the first lossy video codec among the decoders' inputs in this bin; empty if there is none. Call
/// it after a frame has arrived.
std::string lossy_codec(GstElement* bin);

} // namespace specklescope
