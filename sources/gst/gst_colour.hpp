// Range and matrix of a stream's values: those that it states are obeyed, the others assumed and named.
#pragma once

#include "files/gst_handles.hpp"

#include <gst/gst.h>

#include <string>
#include <vector>

namespace specklescope {

/// Watches what comes to `convert`. YUV without a stated range is taken as 16…235, without a matrix as BT.601
/// up to 576 rows and BT.709 above (as GStreamer and ffmpeg assume). Colours of more than 8 bits come out of
/// `sink`, an appsink, with 16.
void obey_colours(GstElement* convert, GstElement* sink);

/// H.264 and HEVC state their range themselves, which some containers repeat wrongly (GStreamer's MP4 leaves
/// it out): the stream is asked first, its container where the stream says nothing.
void prefer_colours_of_streams(GstElement* pipeline, GstElement* sink);

/// What has been assumed, or stated and not applied, since the last call: sentences that follow a source's
/// name.
std::vector<std::string> take_colour_notes(GstElement* sink);

} // namespace specklescope
