#include "files/description_text.hpp"

#include "base/text.hpp"
#include "files/recorded.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

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
        const std::size_t after = at + name.size();
        if (named && after < xml.size() && string_view(" \t\r\n/>").find(xml[after]) != string_view::npos) {
            const std::size_t end = std::min(xml.find('>', after), xml.size());
            return XmlElement{xml.substr(after, end - after), xml.substr(std::min(end + 1, xml.size()))};
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

namespace {

using std::string_view;

constexpr double kUmPerInch = 25400, kUmPerCm = 10000;
constexpr double kSquare = 1e-3; ///< relative: rounding of equal sides

/// Units as written by ImageJ and OME, after plain_unit().
std::optional<double> um_of(string_view unit) {
    constexpr std::array<std::pair<string_view, double>, 22> kUnits = {{{"pm", 1e-6},
                                                                        {"Å", 1e-4},
                                                                        {"nm", 1e-3},
                                                                        {"nanometer", 1e-3},
                                                                        {"um", 1},
                                                                        {"micron", 1},
                                                                        {"microns", 1},
                                                                        {"micrometer", 1},
                                                                        {"micrometers", 1},
                                                                        {"micrometre", 1},
                                                                        {"mm", 1e3},
                                                                        {"millimeter", 1e3},
                                                                        {"millimeters", 1e3},
                                                                        {"cm", kUmPerCm},
                                                                        {"centimeter", kUmPerCm},
                                                                        {"dm", 1e5},
                                                                        {"m", 1e6},
                                                                        {"meter", 1e6},
                                                                        {"metre", 1e6},
                                                                        {"inch", kUmPerInch},
                                                                        {"inches", kUmPerInch},
                                                                        {"in", kUmPerInch}}};
    const auto* const found =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& known) { return known.first == unit; });
    return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

bool no_length(string_view unit) {
    return unit.empty() || unit == "pixel" || unit == "pixels" || unit == "px";
}

std::string digits(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.7g", value);
    return text.data();
}

/// Scale for pixels of `x` × `y` µm according to `by`.
FileScale squares(double x, double y, std::string by) {
    if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y)))
        return {};
    if (std::abs(x - y) > kSquare * std::max(x, y))
        return {.refused = "its pixels are " + digits(x) + " × " + digits(y) + " µm by " + by +
                           ", and only square pixels have a scale. Resample it, or set --um-per-px"};
    if (x > kMaxUmPerPx)
        return {.refused = "its pixels are " + digits(x) + " µm by " + by +
                           ", which is not a pixel size. Set --um-per-px if it is known"};
    return {.um_per_px = x, .by = std::move(by)};
}

FileScale unknown_unit(const std::string& unit, const std::string& by) {
    return {.refused = by + " says lengths in '" + one_line(unit) +
                       "', which is not a known length. Set --um-per-px"};
}

/// Nothing if it contains no lengths.
std::optional<FileScale> ome_scale(string_view xml) {
    const std::optional<XmlElement> pixels = xml_element(xml, "Pixels");
    const string_view tag = pixels ? pixels->tag : string_view();
    const auto x = xml_attribute(tag, "PhysicalSizeX"), y = xml_attribute(tag, "PhysicalSizeY");
    if (!x || !y)
        return std::nullopt;
    std::array<double, 2> um{};
    for (const bool of_y : {false, true}) {
        const std::string unit =
            plain_unit(xml_attribute(tag, of_y ? "PhysicalSizeYUnit" : "PhysicalSizeXUnit").value_or("um"));
        const std::optional<double> length = um_of(unit);
        if (!length && (no_length(unit) || unit == "reference frame"))
            return std::nullopt;
        if (!length)
            return unknown_unit(unit, "OME-XML");
        um[of_y ? 1 : 0] = number_of(of_y ? *y : *x) * *length;
    }
    return squares(um[0], um[1], "OME-XML");
}

/// Seven digits, the precision of a float, as libtiff returns both ratios.
double of_resolution(double pixels, double um) {
    return pixels > 0 && std::isfinite(pixels) ? std::strtod(digits(um / pixels).c_str(), nullptr) : 0;
}

std::optional<FileScale> imagej_scale(string_view description, const TiffResolution& resolution) {
    const auto said = imagej_value(description, "unit");
    if (!said)
        return std::nullopt;
    const std::string unit = plain_unit(*said),
                      across = plain_unit(imagej_value(description, "yunit").value_or(*said));
    if (no_length(unit))
        return FileScale{};
    const std::optional<double> x = um_of(unit), y = um_of(across);
    if (!x || !y)
        return unknown_unit(x ? across : unit, "ImageJ");
    return squares(of_resolution(resolution.x, *x), of_resolution(resolution.y, *y),
                   "ImageJ's unit " + one_line(unit));
}

/// Typical values that programs write for a screen or a printer.
bool of_a_device(double dots_per_inch) {
    constexpr std::array<int, 23> kDevices = {72,  75,  90,  96,  100, 120, 144,  150,  180,  192,  200, 240,
                                              300, 350, 360, 400, 600, 720, 1200, 1440, 2400, 2880, 4800};
    return std::any_of(kDevices.begin(), kDevices.end(),
                       [&](int device) { return std::abs(dots_per_inch - device) < 5e-4 * device; });
}

FileScale plain_scale(const TiffResolution& resolution) {
    if (resolution.unit != 2 && resolution.unit != 3)
        return {};
    if (resolution.x == 1 && resolution.y == 1) // a placeholder
        return {};
    const double um = resolution.unit == 2 ? kUmPerInch : kUmPerCm;
    const std::string by = "its resolution of " + digits(resolution.x) +
                           (resolution.unit == 2 ? " pixels per inch" : " pixels per cm");
    if (of_a_device(resolution.x * kUmPerInch / um))
        return {.refused = by + " is a screen or printer resolution and is not used as the pixel size. Set "
                                "--um-per-px if it is known"};
    return squares(of_resolution(resolution.x, um), of_resolution(resolution.y, um), by);
}

} // namespace

int ome_significant_bits(string_view description) {
    const std::optional<XmlElement> pixels = xml_element(description, "Pixels");
    const double bits = pixels ? number_of(xml_attribute(pixels->tag, "SignificantBits").value_or("")) : 0;
    return bits >= 1 && bits <= 64 ? static_cast<int>(bits) : 0;
}

FileScale tiff_scale(string_view description, const TiffResolution& resolution) {
    if (is_ome_xml(description))
        if (std::optional<FileScale> ome = ome_scale(description))
            return *ome;
    if (description.starts_with("ImageJ="))
        if (std::optional<FileScale> imagej = imagej_scale(description, resolution))
            return *imagej;
    return plain_scale(resolution);
}

} // namespace specklescope
