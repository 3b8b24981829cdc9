// The complete frames of a video file, read from the file: after a failed write only the muxer knows which
// frames have reached the disk, and it does not report them.
#pragma once

#include "files/whole_file.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

struct WholeFilm {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0; ///< to the end of the last complete frame
};

/// Counts the complete blocks of Matroska (RFC 9559).
WholeFilm whole_matroska(const File& file);
/// Counts the samples of complete fragments of MP4 (ISO/IEC 14496-12).
WholeFilm whole_mp4(const File& file);

/// Replaces the totals in the comment of an MP4: GStreamer's muxer writes tags at the beginning only. Returns
/// an error number, or 0.
int describe_mp4(const File& file, const std::string& totals);

} // namespace specklescope
