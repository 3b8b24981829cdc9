// Range and matrix of a stream's values: those that it states are obeyed, the others assumed and named.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/frame.hpp"

#include <gst/gst.h>

#include <string>
#include <vector>

namespace specklescope {

/// Watches what comes to `convert`. YUV without a stated range is taken as 16…235, without a matrix as BT.601
/// up to 576 rows and BT.709 above, as GStreamer does. `sink`, an appsink, gives colours of more than 8 bits
/// with 16 bits.
void obey_colours(GstElement* convert, GstElement* sink);

/// Takes the range of an H.264 or HEVC stream from the stream itself. The container's is used only if the
/// stream states none, because GStreamer's MP4 reader ignores the range.
void prefer_colours_of_streams(GstElement* pipeline, GstElement* sink);

/// New assumptions, and stated facts that are not applied, since the last call. Each sentence follows the
/// name of the source.
std::vector<std::string> take_colour_notes(GstElement* sink);

/// Facts that the stream does not state, by its newest caps.
Assumptions colour_assumptions(GstElement* sink);

} // namespace specklescope
