#include "files/json_object.hpp"

#include <nlohmann/json.hpp>

namespace specklescope {

namespace {

/// Text up to the brace that closes the first one; empty if there is none or the nesting is too deep.
std::string_view first_object(std::string_view text) {
    const std::size_t begin = text.find('{');
    if (begin == std::string_view::npos)
        return {};
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            i += c == '\\' ? 1 : 0;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > kMaxJsonDepth)
                return {};
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return text.substr(begin, i + 1 - begin);
        }
    }
    return {};
}

} // namespace

nlohmann::json json_object_in(std::string_view text) {
    const std::string_view object = first_object(text);
    nlohmann::json json = nlohmann::json::parse(object.begin(), object.end(), nullptr, false);
    return json.is_object() ? json : nlohmann::json();
}

} // namespace specklescope
