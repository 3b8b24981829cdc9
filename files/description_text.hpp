// Parsers for the image descriptions of other programs: OME-XML, and ImageJ's lines. Damaged text yields
// fewer values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// Value of an attribute in `tag`, the text of an element's opening tag; nothing if it is missing.
std::optional<std::string_view> xml_attribute(std::string_view tag, std::string_view name);

/// An element: its opening tag without the name, and the text after it.
struct XmlElement {
    std::string_view tag, rest;
};
/// First element with this name, with or without a prefix; nothing if there is none.
std::optional<XmlElement> xml_element(std::string_view xml, std::string_view name);

/// True if the description of an image is OME-XML.
bool is_ome_xml(std::string_view description);

/// Value of "key=value" on its own line, as written by ImageJ; nothing if there is no such line.
std::optional<std::string_view> imagej_value(std::string_view description, std::string_view key);

/// ImageJ's calibration of stored values: signed 16-bit samples are stored as value + 32768.
struct ImagejValues {
    double offset = 0;       ///< to add
    bool calibrated = false; ///< by another function
};
ImagejValues imagej_values(std::string_view description);

/// A unit in a normal form, with u for µ (the micro sign or the Greek letter in UTF-8, Latin-1, an escape or
/// an entity).
std::string plain_unit(std::string_view unit);

/// The number if it is the whole text; 0 for any other text.
double number_of(std::string_view text);

struct FileScale {
    double um_per_px = 0;  ///< side of a pixel in µm; 0: not used
    std::string by{};      ///< origin: "ImageJ's unit micron"; empty: none, or one of our recordings
    std::string refused{}; ///< why the file's value is not used, a sentence; empty: it has none
};

/// The tags XResolution, YResolution and ResolutionUnit.
struct TiffResolution {
    double x = 0, y = 0; ///< pixels per unit; 0: missing
    int unit = 0;        ///< 1: none, 2: inch, 3: cm; 0: missing
};

/// SignificantBits of the first Pixels in OME-XML; 0: not stated.
int ome_significant_bits(std::string_view description);

/// OME-XML in the description has priority over ImageJ's unit, and that over the unit of the resolution.
/// Refused are pixels that are not square, unknown units, and resolutions of screens and printers, which
/// programs write without a measurement. A resolution has seven valid digits.
FileScale tiff_scale(std::string_view description, const TiffResolution& resolution);

} // namespace specklescope
