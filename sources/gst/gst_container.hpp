// How long a video file says it is, to tell a file that was cut short from one that ends.
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

/// Bytes that the outermost parts of a RIFF (AVI), Matroska or ISO (MP4, MOV) file claim; 0 if the file is
/// none of these or leaves it open, as a recording that was never finished does. Never throws.
std::uint64_t claimed_bytes(const std::string& path);

} // namespace specklescope
