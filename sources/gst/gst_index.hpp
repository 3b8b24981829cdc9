// When each frame of a video file is shown, from its packets: nothing is decoded.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Packets of the first video stream.
struct PacketIndex {
    std::vector<std::int64_t> times; ///< in the stream, ns, in order
    bool all_keys = true;            ///< each packet is decoded without others
};

/// The packets up to the place where a file is cut short. No times where they say nothing: packets without
/// times, two of the same, or one far from its place. Reads the whole file, as long work
/// (base/long_work.hpp). Throws RunError without GStreamer's elements, and Cancelled.
PacketIndex packet_index(const std::string& path);

/// `file` reads the file so that all frames of whole_edits() are shown.
void show_whole_edits(GstElement* file, const std::string& path);

/// How far an element that takes a file apart can be trusted.
enum class Demuxer : std::uint8_t {
    exact,     ///< a seek by time begins at a key frame that was verified
    keys_only, ///< packets have decoding times: exact where each packet is a key frame
    timed,     ///< packets have right times, a seek goes elsewhere: frames are counted from the first on
    unknown,   ///< packets are not frames
};
Demuxer demuxer_of(GstElement* pipeline);

} // namespace specklescope
