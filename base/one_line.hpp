// Text from outside — names of files and cameras, what libraries say — as it may be shown to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// Line breaks and control characters, those beyond ASCII (U+0080…U+009F) and those that turn the direction
/// of writing included, become spaces; bytes that are not UTF-8 become U+FFFD. Nothing of it moves the
/// cursor.
std::string one_line(std::string_view text);

/// Bytes of the character that begins here, 1…4; 0 where the text is not UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

} // namespace specklescope
