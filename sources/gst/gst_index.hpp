// Display times of a video file's frames, from its packets, without decoding.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Packets of the first video stream.
struct PacketIndex {
    std::vector<std::int64_t> times; ///< in the stream, ns, sorted
    bool all_keys = true;            ///< each packet is decoded independently
};

/// Packets up to the place of truncation. No times if they are unusable: missing, duplicate, or far from
/// their position. Reads the whole file and can be cancelled (base/long_work.hpp). Throws RunError if
/// GStreamer's elements are missing, and Cancelled.
PacketIndex packet_index(const std::string& path);

/// Makes `file` show all frames of whole_edits().
void show_whole_edits(GstElement* file, const std::string& path);

/// Reliability of a demuxer.
enum class Demuxer : std::uint8_t {
    exact,     ///< a seek by time begins at a verified key frame
    keys_only, ///< packets have decoding times: exact if each packet is a key frame
    timed,     ///< packet times are right but seeks are not: frames are counted from the first
    unknown,   ///< packets are not frames
};
Demuxer demuxer_of(GstElement* pipeline);

} // namespace specklescope
