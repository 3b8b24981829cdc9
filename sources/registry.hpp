// Registry of sources, and their SOURCE arguments.
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
};

const std::vector<SourceType>& source_types();

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

} // namespace specklescope
