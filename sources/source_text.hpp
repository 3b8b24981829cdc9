// Parses SOURCE arguments, without opening anything.
#pragma once

#include "base/source_argument.hpp"
#include "pipeline/source.hpp"
#include "sources/registry.hpp"

#include <string>
#include <string_view>

namespace specklescope {

/// Splits a SOURCE argument into kind, target and options. In order:
///   ""                      the default simulated scene
///   rtsp://… rtsps://…      the whole URL is the target
///   gst:DESCRIPTION         the whole text after gst: is the target, '?' and all
///   KIND[:TARGET][?k=v&…]   a kind of source_types()
///   PATH[?k=v&…]            image, raw or video, by the existing file and its extension; an existing path
///                           that contains '?' or ':' is used unchanged
/// A PATH or TARGET that is "~" or begins with "~/" is in the home folder. Throws UsageError for an unknown
/// kind and for options that are not of the form key=value.
SourceText parse_source_text(const std::string& text);
inline constexpr std::string_view kOptionsBegin = "They begin at the last '?'. A file on disk whose name "
                                                  "holds one is taken as it is; one that is not there "
                                                  "yet ends with another '?'";

/// The same source for any current folder: a file's path made absolute. Throws as above.
SourceArgument absolute_source_text(const SourceArgument& text);

/// True if the target is a path: image, video, raw.
bool is_file_kind(std::string_view kind);

/// True if each frame can be read only once: a pipe, standard input, a device that is read like a file.
bool is_read_once(const SourceText& source);

/// png, jpg, jpeg, tif, tiff, btf, tf2, tf8, stk, lsm, hdr, exr, in any case.
bool has_image_ending(std::string_view path);

} // namespace specklescope
