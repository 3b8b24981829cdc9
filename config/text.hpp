// Small text helpers of help, errors and the manual.
#pragma once

#include "base/text.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Columns that UTF-8 text takes on a terminal (one a code point).
std::size_t columns(std::string_view text);
/// Words in lines of at most `width` columns.
std::vector<std::string> wrap(std::string_view text, std::size_t width);
/// "  left    right, wrapped" in two columns, kHelpWidth wide; a long left side gets a line of its own.
std::string row(std::string_view left, std::string_view right, std::size_t left_width);
inline constexpr std::size_t kHelpWidth = 100;

/// The candidate that `word` is most likely a slip of, or "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// "; did you mean X?" or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);
/// printf's formats, of at most 255 bytes.
std::string printed(const char* format, auto... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}
/// "1 frame", "2 frames".
std::string count_of(std::size_t count, const char* what);
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

} // namespace specklescope
