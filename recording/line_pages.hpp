// Lines in a file that is whole after every kill -9.
#pragma once

#include "files/whole_file.hpp"

#include <cstdint>
#include <string_view>

namespace specklescope {

/// Bytes that the system writes in one go. A signal that kills stops a write only between two such pages: of
/// 400 kills during writes of 400 kB one in eight cut a line (Linux 6.18, ext4).
inline constexpr std::size_t kLinePage = 4096;

/// Appends whole lines at `end`, which is 0 or behind lines that were appended so, and moves it behind what
/// is in the file. No write leaves its page, so that a killed process leaves all of a write or nothing: where
/// the next line does not fit into the rest of a page, a comment of spaces ("#    ") fills it. Lines are of
/// at most kLinePage - 2 bytes; a longer one is written as it is, and may be cut. Returns an error number, or
/// 0; where the file takes only a part it ends with the last whole line of that. `lines` begins behind those
/// that are in the file afterwards.
int append_lines(const File& file, std::uint64_t& end, std::string_view& lines);

} // namespace specklescope
