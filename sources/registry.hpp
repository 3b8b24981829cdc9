// Every kind of source, and the SOURCE argument that names one.
#pragma once

#include "base/source_argument.hpp"
#include "pipeline/source.hpp"

#include <memory>
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
    bool trusted = false; ///< gst: it may write files and listen
};

/// The registry's row: sources/registry.cpp.
struct SourceType {
    std::string_view kind;
    std::string_view syntax; ///< "synthetic[:vessels|uniform|static]"
    std::string_view doc;
    const ParamTable* table; ///< its options; never null
    std::unique_ptr<Source> (*make)(const SourceText& text, const Params& params);
    /// Devices that could be opened now, as SOURCE arguments with a description; null if it cannot list any.
    std::vector<std::pair<std::string, std::string>> (*discover)();
};

const std::vector<SourceType>& source_types();

/// Parses a SOURCE argument. `rate` (0: as the source says), `loop` and `transfer` are the command line's,
/// for file sources. Throws UsageError for an unknown kind, option or value, RunError for a file that is not
/// there.
struct SourceDefaults {
    double rate = 0;
    bool loop = false;
    std::string transfer = "auto"; ///< of pictures; other sources refuse one that would have to be decoded
    bool trusted = false;          ///< a gst: text may write files and listen (--trust)
};
/// Its references (${env:NAME}) are resolved here; neither they nor its other secrets stand in what the
/// source says from then on, errors and its name included.
std::unique_ptr<Source> make_source(const SourceArgument& text, const SourceDefaults& defaults);

} // namespace specklescope
