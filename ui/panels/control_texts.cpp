// Texts in controls.
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace specklescope {

namespace {

/// End of the longest part that fits in `room`. Dear ImGui omits a letter that ends exactly there.
const char* end_of_part(const ImFont& font, const char* begin, const char* end, float room) {
    const char* rest = begin;
    if (room > 0)
        (void)font.CalcTextSizeA(font.FontSize, std::nextafter(room, FLT_MAX), 0, begin, end, &rest);
    return rest;
}

} // namespace

std::string fitted(const ImFont& font, std::string text, float width) {
    constexpr const char* kCut = "…";
    const auto extent = [&](const std::string& t) {
        return font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, t.c_str()).x;
    };
    if (extent(text) <= width)
        return text;
    // Measures the text in one pass, because long GStreamer pipelines and paths are measured in every frame.
    const char* rest = end_of_part(font, text.c_str(), text.c_str() + text.size(), width - extent(kCut));
    text.resize(static_cast<std::size_t>(rest - text.c_str()));
    return text.empty() ? text : text + kCut;
}

std::string fitted_name(const ImFont& font, const std::string& text, float width) {
    const auto extent = [&](const char* from, const char* end) {
        return font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, from, end).x;
    };
    const char *begin = text.c_str(), *end = begin + text.size();
    if (extent(begin, end) <= width)
        return text;
    const std::string cut = "…";
    const float room = width - extent(cut.c_str(), cut.c_str() + cut.size());
    const char *left = end_of_part(font, begin, end, room * 0.4F), *right = end;
    for (float used = extent(begin, left); right > left;) { // character by character from the end
        const char* letter = right - 1;
        while (letter > left && (static_cast<unsigned char>(*letter) & 0xC0U) == 0x80U)
            --letter;
        used += extent(letter, right);
        if (used > room)
            break;
        right = letter;
    }
    return right == end ? "" : std::string(begin, left) + cut + std::string(right, end);
}

std::string wrapped(const ImFont& font, const std::string& text, float width) {
    const auto extent = [&](std::size_t from, std::size_t end) {
        return font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, text.c_str() + from, text.c_str() + end).x;
    };
    std::string out;
    std::size_t line = 0; // index in the text where the line begins
    for (std::size_t at = 0; at < text.size();) {
        std::size_t word = at;
        while (word < text.size() && text[word] == ' ')
            ++word;
        std::size_t end = word;
        while (end < text.size() && text[end] != ' ' && text[end] != '\n')
            ++end;
        if (at > line && word > at && extent(line, end) > width) {
            out += '\n';
            line = word;
        } else {
            out.append(text, at, word - at);
        }
        out.append(text, word, end - word);
        at = end;
        if (at < text.size() && text[at] == '\n') {
            out += '\n';
            line = ++at;
        }
    }
    return out;
}

std::string label_text(std::string name) {
    for (std::size_t at = name.find("##"); at != std::string::npos; at = name.find("##", at))
        name.insert(at + 1, "\u200A"); // hair space
    return name;
}

} // namespace specklescope
