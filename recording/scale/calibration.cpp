#include "recording/scale/calibration.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

std::string format(const char* pattern, auto... values) {
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

/// Text of an attribute, without a brace: the JSON is found by its first one.
std::string attribute(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || std::string_view("<>&\"'{").find(c) != std::string_view::npos)
            safe += format("&#%d;", byte < 0x20 ? 0x20 : byte);
        else
            safe += c;
    }
    return safe;
}

const char* ome_type(PixelType type) {
    return type == PixelType::u8 ? "uint8" : type == PixelType::u16 ? "uint16" : "float";
}

/// The unit in UTF-8: Bio-Formats does not resolve a character reference there and refuses the file.
std::string physical(char axis, double um) {
    return format(" PhysicalSize%c=\"%.9g\" PhysicalSize%cUnit=\"\xC2\xB5m\"", axis, um, axis);
}

} // namespace

std::uint64_t tiff_ratio(double value) {
    constexpr double kMost = 4294967295.0;
    if (!(value >= 1 / kMost && value <= kMost))
        return std::uint64_t{1} << 32 | 1U;
    double above = 1, below = 0, above_before = 0, below_before = 1; // of the convergents
    double rest = value;
    while (true) {
        const double whole = std::floor(rest);
        const double next_above = whole * above + above_before, next_below = whole * below + below_before;
        if (next_above > kMost || next_below > kMost)
            break;
        above_before = std::exchange(above, next_above);
        below_before = std::exchange(below, next_below);
        if (std::abs(above / below - value) <= 1e-15 * value || rest == whole)
            break;
        rest = 1 / (rest - whole);
    }
    return static_cast<std::uint64_t>(below) << 32 | static_cast<std::uint64_t>(above);
}

bool is_ome_name(const std::string& path) {
    std::string name = path;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.ends_with(".ome.tiff") || name.ends_with(".ome.tif");
}

Wrapping imagej_text(const StackAxes& axes) {
    const auto frames = static_cast<unsigned long long>(axes.frames);
    // While the number of frames is 0 they count the pages themselves. A version of ImageJ is left out: with
    // one ImageJ would take the pixels of all pages as contiguous, without the directories between them.
    return {.before = format("ImageJ=\nimages=%010llu\nframes=%010llu\nhyperstack=true\n", frames, frames) +
                      (axes.timed ? format("finterval=%.9e\ntunit=s\n", axes.interval_s) : "") +
                      // Bio-Formats takes no unit for µm.
                      (axes.um_per_px > 0 ? "unit=micron\n" : "unit=pixel\n"),
            .behind = ""};
}

Wrapping ome_text(const StackAxes& axes) {
    const Shape& shape = axes.shape;
    const std::string& unit = axes.quantity.unit;
    const std::string name = axes.quantity.name + (unit == "1" ? "" : " (" + unit + ")");
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                       "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
                       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                       "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
                       "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" "
                       "Creator=\"Specklescope " SPECKLESCOPE_VERSION "\">";
    text += "<Image ID=\"Image:0\" Name=\"" + attribute(axes.quantity.name) + "\">";
    text += format("<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"%s\" SizeX=\"%d\" SizeY=\"%d\" "
                   "SizeZ=\"1\" SizeC=\"%d\" SizeT=\"%010llu\"",
                   ome_type(shape.type), shape.width, shape.height, shape.channels,
                   static_cast<unsigned long long>(std::max<std::uint64_t>(axes.frames, 1)));
    if (axes.um_per_px > 0)
        text += physical('X', axes.um_per_px) + physical('Y', axes.um_per_px);
    if (axes.timed)
        text += format(" TimeIncrement=\"%.9e\" TimeIncrementUnit=\"s\"", axes.interval_s);
    text += '>';
    text += format("<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"%d\" Name=\"", shape.channels) +
            attribute(name) + "\"/><TiffData/></Pixels></Image>";
    text += "<StructuredAnnotations><CommentAnnotation ID=\"Annotation:0\" Namespace=\"specklescope\">"
            "<Value><![CDATA[";
    return {.before = std::move(text),
            .behind = "]]></Value></CommentAnnotation></StructuredAnnotations></OME>"};
}

std::string ome_safe(std::string json) {
    for (std::size_t at = json.find("]]>"); at != std::string::npos; at = json.find("]]>", at))
        json.replace(at + 2, 1, "\\u003e"); // such a text is within quotes: none of it is JSON's own
    return json;
}

} // namespace specklescope
