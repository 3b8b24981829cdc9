#include "base/text.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

namespace specklescope {

namespace {

std::uint32_t code_point(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    constexpr std::array<unsigned, 5> kMask = {0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t code = first & kMask[bytes.size()];
    for (const char c : bytes.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
    return code;
}

/// C0, DEL, C1, line and paragraph separators, and the embeddings, overrides and isolates that change the
/// writing direction.
bool commands(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::size_t utf8_length(std::string_view text) {
    if (text.empty())
        return 0;
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length == 0 || text.size() < length)
        return 0;
    for (const char c : text.substr(1, length - 1))
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80)
            return 0;
    const std::uint32_t code = code_point(text.substr(0, length));
    const bool longer_than_needed = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return longer_than_needed || surrogate || code > 0x10ffff ? 0 : length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string one_line(std::string_view text) {
    std::string line;
    line.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            line += "\xef\xbf\xbd";
        else if (commands(code_point(text.substr(0, length))))
            line += ' ';
        else
            line += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    while (!line.empty() && line.back() == ' ')
        line.pop_back();
    return line;
}

namespace {

/// Takes the text up to the next comma, and removes the comma.
std::string take_value(std::string_view& rest, const std::string& owner) {
    std::string value;
    if (rest.empty() || rest[0] != '"') {
        const std::size_t comma = rest.find(',');
        value = rest.substr(0, comma);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        return value;
    }
    std::size_t i = 1;
    for (; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size())
            ++i;
        value += rest[i];
    }
    if (i >= rest.size() || (i + 1 < rest.size() && rest[i + 1] != ','))
        throw UsageError(owner + ": the quotes in " + std::string(rest) +
                         " do not close before a comma or the end.");
    rest.remove_prefix(std::min(rest.size(), i + 2));
    return value;
}

} // namespace

void for_key_values(std::string_view text, const std::string& owner,
                    const std::function<void(std::string_view key, const std::string& value)>& take) {
    std::string_view rest = text;
    std::vector<std::string_view> given;
    while (!rest.empty()) {
        const std::size_t equal = rest.find_first_of("=,");
        if (equal == std::string_view::npos || rest[equal] != '=')
            throw UsageError(owner + ": '" + std::string(rest.substr(0, equal)) +
                             "' is not of the form key=value.");
        const std::string_view key = rest.substr(0, equal);
        rest.remove_prefix(equal + 1);
        if (std::find(given.begin(), given.end(), key) != given.end())
            throw UsageError(owner + ": " + std::string(key) + " is given twice; leave one of the two out.");
        given.push_back(key);
        take(key, take_value(rest, owner));
    }
}

std::optional<std::vector<double>> number_list(std::string_view text) {
    std::vector<double> numbers;
    for (std::string_view rest = text;; rest.remove_prefix(1)) {
        const auto [end, failed] =
            std::from_chars(rest.data(), rest.data() + rest.size(), numbers.emplace_back());
        if (failed != std::errc())
            return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.empty())
            return numbers;
        if (rest[0] != '+' && rest[0] != ',')
            return std::nullopt;
    }
}

} // namespace specklescope
