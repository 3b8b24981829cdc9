// What a video file says of itself: how long it is, to tell a file that was cut short from one that ends, and
// what our recorder wrote beside the pixels.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

/// Of claimed_bytes(): more than there is, and nobody knows how much.
inline constexpr std::uint64_t kEndMissing = std::numeric_limits<std::uint64_t>::max();

/// Bytes that a file says, or that its last part needs: RIFF (AVI), Matroska (by its blocks where the segment
/// is open), ISO (MP4, MOV), FLV, Ogg, ASF, MPEG-TS, YUV4MPEG2, pictures in JPEG one after another.
/// kEndMissing where it ends within a part of unknown length. 0 if it is none of these or does not tell: of
/// elementary streams (.h264), of a cut that falls between two parts, and of streams of more than 16 million
/// elements nobody knows. Long work that can be stopped, and throws nothing else.
std::uint64_t claimed_bytes(const std::string& path);

/// An MP4 or MOV file whose frames lie in fragments. Long work that can be stopped, and throws nothing else.
bool fragmented_mp4(const std::string& path);

/// The payloads of a Matroska file's tags, or of its general information where a killed recorder left none,
/// with the recorder's JSON text among them. Empty for any other file. Long work that can be stopped, and
/// throws nothing else.
std::string matroska_texts(const std::string& path);

/// Places in an MP4 of the durations of edits that end with their track, 4 or 8 bytes each. GStreamer leaves
/// out the last frames of such an edit where they are stored in another order than they are shown; one of
/// duration 0 has them all. Long work, as above.
struct EditDuration {
    std::uint64_t place = 0;
    int bytes = 4;
};
std::vector<EditDuration> whole_edits(const std::string& path);

} // namespace specklescope
