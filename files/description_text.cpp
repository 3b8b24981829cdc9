#include "files/description_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace specklescope {

using std::string_view;

namespace {

void replace_every(std::string& text, string_view from, string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

} // namespace

std::optional<string_view> xml_attribute(string_view tag, string_view name) {
    for (std::size_t at = tag.find(name); at != string_view::npos; at = tag.find(name, at + 1)) {
        std::size_t next = at + name.size();
        const bool begins = at > 0 && string_view(" \t\r\n").find(tag[at - 1]) != string_view::npos;
        next = std::min(tag.find_first_not_of(" \t\r\n", next), tag.size());
        if (!begins || next == tag.size() || tag[next] != '=')
            continue;
        next = std::min(tag.find_first_not_of(" \t\r\n", next + 1), tag.size());
        if (next == tag.size() || (tag[next] != '"' && tag[next] != '\''))
            continue;
        const std::size_t end = tag.find(tag[next], next + 1);
        if (end != string_view::npos)
            return tag.substr(next + 1, end - next - 1);
    }
    return std::nullopt;
}

std::optional<XmlElement> xml_element(string_view xml, string_view name) {
    for (std::size_t at = xml.find(name); at != string_view::npos; at = xml.find(name, at + 1)) {
        const std::size_t open = xml.rfind('<', at);
        const bool named =
            open != string_view::npos &&
            (open + 1 == at || (xml[at - 1] == ':' &&
                                xml.substr(open, at - open).find_first_of(" /!?\"'") == string_view::npos));
        const std::size_t behind = at + name.size();
        if (named && behind < xml.size() && string_view(" \t\r\n/>").find(xml[behind]) != string_view::npos) {
            const std::size_t end = std::min(xml.find('>', behind), xml.size());
            return XmlElement{xml.substr(behind, end - behind), xml.substr(std::min(end + 1, xml.size()))};
        }
    }
    return std::nullopt;
}

bool is_ome_xml(string_view description) {
    return description.find("<OME") != string_view::npos || description.find(":OME ") != string_view::npos;
}

std::optional<string_view> imagej_value(string_view description, string_view key) {
    for (std::size_t begin = 0; begin < description.size();) {
        const std::size_t end = std::min(description.find('\n', begin), description.size());
        const string_view line = description.substr(begin, end - begin);
        if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
            return line.substr(key.size() + 1);
        begin = end + 1;
    }
    return std::nullopt;
}

ImagejValues imagej_values(string_view description) {
    const auto function = imagej_value(description, "cf");
    const auto number = [&](string_view key) {
        return number_of(imagej_value(description, key).value_or(""));
    };
    constexpr string_view kStraightLine = "0", kNone = "20";
    if (!description.starts_with("ImageJ=") || !function || *function == kNone)
        return {};
    if (*function == kStraightLine && number("c1") == 1 && number("c0") == std::round(number("c0")) &&
        std::abs(number("c0")) <= 65536)
        return {.offset = number("c0")};
    return {.calibrated = true};
}

std::string plain_unit(string_view unit) {
    std::string plain(unit);
    for (const string_view micro : {"\xC2\xB5", "\xCE\xBC", "\xB5", "\\u00B5", "\\u00b5", "\\u03BC",
                                    "\\u03bc", "&#181;", "&#xB5;", "&#xb5;", "&#956;", "&#x3BC;", "&#x3bc;"})
        replace_every(plain, micro, "u");
    plain.erase(0, std::min(plain.find_first_not_of(" \t"), plain.size()));
    plain.resize(plain.find_last_not_of(" \t\r") + 1);
    return plain;
}

double number_of(string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

} // namespace specklescope
