// Text that has room for its beginning alone.
#pragma once

#include <algorithm>
#include <string_view>

namespace specklescope {

/// The text's first bytes, at most so many, and no part of a character of UTF-8 at their end.
constexpr std::string_view beginning(std::string_view text, std::size_t most) noexcept {
    std::size_t end = std::min(text.size(), most);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end; // between characters
    return text.substr(0, end);
}

} // namespace specklescope
