// Facts in a video file: its length, to detect truncated files, and the recorder's metadata.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

/// Result of claimed_bytes(): truncated, by an unknown amount.
inline constexpr std::uint64_t kEndMissing = std::numeric_limits<std::uint64_t>::max();

/// Size of a file according to its contents, or needed by its last part: RIFF (AVI), Matroska (by its blocks
/// if the segment is open), ISO (MP4, MOV), FLV, Ogg, ASF, MPEG-TS, YUV4MPEG2, consecutive JPEG images.
/// kEndMissing if it ends within a part of unknown length. 0 for other formats and if unknown: elementary
/// streams (.h264), truncation between two parts, and streams with more than 16 million elements. Can be
/// cancelled, and throws nothing else.
std::uint64_t claimed_bytes(const std::string& path);

/// True for an MP4 or MOV file with fragments. Can be cancelled, and throws nothing else.
bool fragmented_mp4(const std::string& path);

/// Payloads of a Matroska file's tags, or of its general information if a killed recorder left no tags; they
/// include the recorder's JSON text. Empty for other files. Can be cancelled, and throws nothing else.
std::string matroska_texts(const std::string& path);

/// Places of the durations of edits in an MP4 that end with their track, 4 or 8 bytes each. GStreamer drops
/// the last frames of such an edit if they are not stored in display order; with duration 0 it shows all. Can
/// be cancelled.
struct EditDuration {
    std::uint64_t place = 0;
    int bytes = 4;
};
std::vector<EditDuration> whole_edits(const std::string& path);

} // namespace specklescope
