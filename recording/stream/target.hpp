// Which names stand for a stream: frames are written into what is named, one after another, and nothing is
// created, renamed or replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace specklescope {

/// "-", /dev/stdout, /dev/fd/N, a FIFO or /dev/null, with raw: or y4m: in front or without.
struct StreamTarget {
    enum class Kind : std::uint8_t { raw, y4m };
    Kind kind = Kind::raw; ///< without a prefix: y4m where the name ends in .y4m
    std::string text;      ///< as the user wrote it
    std::string path;      ///< without the prefix
    int descriptor = -1;   ///< of this process; -1: `path` is to be opened
};
/// Nothing where `text` names a file. What has a prefix is always a stream, whether or not there is one.
std::optional<StreamTarget> stream_target(const std::string& text);

} // namespace specklescope
