// Every kind of source, and the SOURCE argument that names one.
#pragma once

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

/// Parses a SOURCE argument. `rate` (0: as the source says) and `loop` are the command line's, for file
/// sources. Throws UsageError for an unknown kind, option or value, RunError for a file that is not there.
struct SourceDefaults {
    double rate = 0;
    bool loop = false;
};
std::unique_ptr<Source> make_source(const std::string& text, const SourceDefaults& defaults);

} // namespace specklescope
