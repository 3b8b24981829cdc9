// How much of a film can be read whose disk became full while it was written. The file itself is asked: which
// frames have reached it when a write fails, only the muxer knows, and it does not say.
#pragma once

#include "files/whole_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace specklescope {

struct WholeFilm {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0; ///< to the end of the last of them, or of what names it; what follows is cut
};

/// Of Matroska (RFC 9559): blocks that are there to their last byte.
WholeFilm whole_matroska(const File& file);
/// Of MP4 (ISO/IEC 14496-12): samples that a whole moov or moof names, and that are there to their last byte.
WholeFilm whole_mp4(const File& file);

/// Writes totals_text() into the comment of a whole MP4: GStreamer's muxer takes its tags when it starts, and
/// ignores later ones. Returns an error number, or 0.
int describe_mp4(const File& file, const std::string& totals);

/// GStreamer's muxer says the length of a track with 32 bits, which ticks of 1/90000 s fill in 13 h; its
/// reader takes such a track for a picture beside the film. Where the index at the end of a whole MP4 holds a
/// longer one, an index with 64 bits takes its place, at the end; without room for it the length is said to
/// be unknown. Returns an error number, or 0.
int widen_mp4(const File& file);

/// An MP4 is written in parts, each with an index. At its end the muxer makes them one part: it lets the
/// first reach to the end of the file and hides its index, before it knows whether there is room for the one
/// of all. Where there is none, no frame could be read any more.
class Mp4Head {
public:
    /// Remembers how the file begins, once its first part has an index; cheap, to be called with each frame.
    void look(const File& file);
    /// Makes it begin so again; nothing where its first part had none.
    void put_back(const File& file) const;

private:
    std::array<std::byte, 64> head_{};
    std::uint64_t index_ = 0; ///< where it is; 0: nowhere yet
};

} // namespace specklescope
