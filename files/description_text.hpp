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

} // namespace specklescope
