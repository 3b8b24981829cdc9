// Words of other programs in the description of an image: OME-XML, and ImageJ's lines. Damaged text gives
// fewer of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// The value of an attribute in `tag`, the text of an element's opening tag; nothing where it has none.
std::optional<std::string_view> xml_attribute(std::string_view tag, std::string_view name);

/// An element: its opening tag without the name, and the text behind it.
struct XmlElement {
    std::string_view tag, rest;
};
/// The first element of this name, with or without a prefix; nothing where there is none.
std::optional<XmlElement> xml_element(std::string_view xml, std::string_view name);

/// Whether the description of an image is OME-XML.
bool is_ome_xml(std::string_view description);

/// The value of "key=value" on a line of its own, as ImageJ writes them; nothing where there is no such line.
std::optional<std::string_view> imagej_value(std::string_view description, std::string_view key);

/// What ImageJ makes of the stored values: of signed 16-bit samples it stores the value + 32768.
struct ImagejValues {
    double offset = 0;       ///< to be added
    bool calibrated = false; ///< by another function
};
ImagejValues imagej_values(std::string_view description);

/// A unit as it was written, with u for µ, however that is written: the micro sign or the Greek letter in
/// UTF-8, Latin-1, an escape or an entity.
std::string plain_unit(std::string_view unit);

/// A number that is the whole text; 0 for any other text.
double number_of(std::string_view text);

} // namespace specklescope
