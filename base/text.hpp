// Text helpers: safe output of outside text, prefixes, lists of key=value.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Replaces line breaks, control characters (C0, C1) and characters that change the writing direction with
/// spaces, and bytes that are not UTF-8 with U+FFFD. The result cannot move the cursor.
std::string one_line(std::string_view text);

/// Bytes of the character that starts here, 1…4; 0 if the text is not UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

/// First bytes of `text`, at most `most`, without a partial UTF-8 character at the end.
constexpr std::string_view beginning(std::string_view text, std::size_t most) noexcept {
    std::size_t end = std::min(text.size(), most);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end; // between characters
    return text.substr(0, end);
}

/// Calls `take` for each pair, in order. A value in double quotes may contain commas; \" and \\ stand for "
/// and \. Throws UsageError, starting with `owner`, for malformed text and for duplicate keys.
void for_key_values(std::string_view text, const std::string& owner,
                    const std::function<void(std::string_view key, const std::string& value)>& take);

/// "0.5+2+8" or "0.5,2,8": the numbers. Nothing for any other text, also if it is empty.
std::optional<std::vector<double>> number_list(std::string_view text);

} // namespace specklescope
