// gst: texts without --trust: elements on a list, with properties on a list.
#pragma once

#include <gst/gst.h>

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// The name of the element at which a text ends.
inline constexpr const char* kEndOfText = "specklescope_end";

/// A gst-launch text in which every element is allowed to be.
struct UntrustedText {
    struct Setting {
        std::string element, property, value; ///< the element by its name
    };
    std::string graph; ///< for GStreamer's parser: names of elements and their links, and nothing else
    std::vector<Setting> settings;
};

/// Parses the text. Throws UsageError for elements that are not on the list, and for anything but elements,
/// properties, links and caps.
UntrustedText read_untrusted(std::string_view text);

/// Sets the properties of the elements that GStreamer made of `text.graph`. Throws UsageError for those that
/// are not on the list.
void apply_untrusted(const UntrustedText& text, GstElement* bin);

/// From now on an element that is added to the bin and is not on the list stays stopped, with an error on the
/// bus.
void watch_untrusted(GstElement* bin);

} // namespace specklescope
