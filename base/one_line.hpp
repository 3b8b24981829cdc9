// Makes outside text (names of files and cameras, messages of libraries) safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// Replaces line breaks, control characters (C0, C1) and characters that change the writing direction with
/// spaces, and bytes that are not UTF-8 with U+FFFD. The result cannot move the cursor.
std::string one_line(std::string_view text);

/// Bytes of the character that starts here, 1…4; 0 if the text is not UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

} // namespace specklescope
