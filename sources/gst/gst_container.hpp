// What a video file says of itself: how long it is, to tell a file that was cut short from one that ends, and
// what our recorder wrote beside the pixels.
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

/// Bytes that the outermost parts of a RIFF (AVI), Matroska or ISO (MP4, MOV) file claim; 0 if the file is
/// none of these or leaves it open, as a recording that was never finished does. Never throws.
std::uint64_t claimed_bytes(const std::string& path);

/// The payloads of a Matroska file's tags, or of its general information where a killed recorder left none,
/// with the recorder's JSON text among them. Empty for any other file. Never throws.
std::string matroska_texts(const std::string& path);

} // namespace specklescope
