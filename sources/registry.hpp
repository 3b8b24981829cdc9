// Registry of sources, and their SOURCE arguments.
#pragma once

#include "base/source_argument.hpp"
#include "pipeline/source.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// "kind:target?key=value&key=value", or a bare path, or "" for the default scene.
struct SourceText {
    std::string kind;   ///< "synthetic", "raw", "v4l2", "aravis", "rtsp", "gst", "file"
    std::string target; ///< scene, path, device, camera name, pipeline text
    std::vector<std::pair<std::string, std::string>> options;
    bool trusted = false; ///< gst: may write files and listen
};

/// A row of the registry: sources/registry.cpp.
struct SourceType {
    std::string_view kind;
    std::string_view syntax; ///< "synthetic[:vessels|uniform|static]"
    std::string_view doc;
    const ParamTable* table; ///< its options; never null
    std::unique_ptr<Source> (*make)(const SourceText& text, const Params& params);
    /// Available devices, as SOURCE arguments with a description; null if it cannot list any.
    std::vector<std::pair<std::string, std::string>> (*discover)();
    std::string_view alias{}; ///< another word for the kind: "h5" for images
};

const std::vector<SourceType>& source_types();
/// Row of a kind or its alias; nullptr: unknown.
const SourceType* source_type(std::string_view word);
/// "synthetic, image, h5, video, …".
std::string source_kinds();

/// Parses a SOURCE argument. `rate` (0: from the source), `loop` and `transfer` are from the command line,
/// for file sources. Throws UsageError for an unknown kind, option or value, RunError for a missing file.
struct SourceDefaults {
    double rate = 0;
    bool loop = false;
    std::string transfer = "auto"; ///< for images; other sources refuse values that need decoding
    bool trusted = false;          ///< a gst: text may write files and listen (--trust)
};
/// Resolves references (${env:NAME}) here; their values and all other secrets are hidden in the source's
/// errors and name.
std::unique_ptr<Source> make_source(const SourceArgument& text, const SourceDefaults& defaults);

// Parses SOURCE arguments, without opening anything.

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
/// True for a camera or a stream of the network, which may be switched on later; a file is there or missing.
bool may_appear_later(const SourceText& source);
inline constexpr std::string_view kOptionsBegin =
    "They begin at the last '?'. The name of an existing file may contain '?'; after that of a new file, add "
    "another '?'";

/// The same source for any current folder: a file's path made absolute. Throws as above.
SourceArgument absolute_source_text(const SourceArgument& text);

/// True if the target is a path: image, video, raw.
bool is_file_kind(std::string_view kind);

/// True if each frame can be read only once: a pipe, standard input, a device that is read like a file.
bool is_read_once(const SourceText& source);

/// Endings of the images of a folder: ".png", …
std::span<const std::string_view> image_endings();
/// In any case.
bool has_image_ending(std::string_view path);

} // namespace specklescope
