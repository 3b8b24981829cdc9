// What a recording says of itself: the texts of its file, as they stand there.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// What the description of every recording begins with.
inline constexpr std::string_view kDescriptionBegin = "{\"finished\"";

/// What a recording says of itself and of its last frame; the latter is empty where that stands elsewhere.
struct Descriptions {
    std::string file, last_frame;
};

/// Of a .tiff, .raw with its .raw.jsonl, .mkv, .png, .hdr or .exr; `file` holds no kDescriptionBegin where it
/// is none of ours. The last frame of a long film is sought only if it is wanted. Throws UsageError where
/// there is no such file, or it cannot be read.
Descriptions descriptions_of(const std::string& path, bool last_frame = true);

} // namespace specklescope
