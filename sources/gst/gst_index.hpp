// When each frame of a video file is shown, from its packets: nothing is decoded.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Times in the stream in ns, in order, of the packets of the first video stream; up to where a file is cut
/// short. Empty where they say nothing: packets without times, or two of the same. Reads the whole file, as
/// long work (base/long_work.hpp). Throws RunError without GStreamer's elements, and Cancelled.
std::vector<std::int64_t> packet_times(const std::string& path);

/// True if what takes the file apart finds its places by the file's own times, and not by a guess from its
/// bytes.
bool seeks_by_time(GstElement* pipeline);

} // namespace specklescope
