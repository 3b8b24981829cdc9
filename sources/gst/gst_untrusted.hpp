// Restrictions of GStreamer elements: files only read themselves, and gst: texts without --trust contain
// listed elements with listed properties.
#pragma once

#include <gst/gst.h>

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Name of the element at the end of a text.
inline constexpr const char* kEndOfText = "specklescope_end";

/// A gst-launch text in which every element is allowed.
struct UntrustedText {
    struct Setting {
        std::string element, property, value; ///< the element's name
    };
    std::string graph; ///< for GStreamer's parser: only element names and links
    std::vector<Setting> settings;
};

/// Parses the text. Throws UsageError for elements that are not listed, and for anything except elements,
/// properties, links and caps.
UntrustedText read_untrusted(std::string_view text);

/// Sets the properties of the elements made from `text.graph`. Throws UsageError for properties that are not
/// listed.
void apply_untrusted(const UntrustedText& text, GstElement* bin);

/// From now on, unlisted elements added to the bin stay stopped, with an error on the bus.
void watch_untrusted(GstElement* bin);

/// Restricts a decodebin to containers on a list, parsers and decoders: nothing that follows addresses in a
/// stream (HLS, DASH, SDP, …). Refusals are errors on the bus. `packets`: also RTP depayloaders.
void allow_codecs_only(GstElement* decodebin, bool packets = false);

/// True if a decodebin may use this element: a container on the list, a parser, a decoder or a depayloader.
bool is_codec(GstElementFactory* factory);

} // namespace specklescope
