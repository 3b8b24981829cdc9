// Text cut to its first bytes.
#pragma once

#include <algorithm>
#include <string_view>

namespace specklescope {

/// First bytes of `text`, at most `most`, without a partial UTF-8 character at the end.
constexpr std::string_view beginning(std::string_view text, std::size_t most) noexcept {
    std::size_t end = std::min(text.size(), most);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end; // between characters
    return text.substr(0, end);
}

} // namespace specklescope
