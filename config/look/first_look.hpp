// Preview of a file before it is opened: its first frame in a small size, and the descriptions found next to
// it.
#pragma once

#include "base/source_argument.hpp"
#include "pipeline/image.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// A file that a source could be, by its ending.
bool looks_like_source(const std::string& name);
/// A file without a header, whose size the user must give. Reads a header of FOIL.
bool is_headerless(const std::string& path);

struct FirstLook {
    Shape shape;                                                   ///< of the source
    std::uint64_t frames = 0;                                      ///< 0: unknown
    double rate = 0;                                               ///< frames/s; 0: not stated
    double exposure_ms = std::numeric_limits<double>::quiet_NaN(); ///< NaN: not stated
    double full_scale = 0;                                         ///< of the first frame; 0: none
    double stored_full_scale = 0;                                  ///< as SourceInfo::stored_full_scale
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb; ///< of the small picture, row by row
};

/// Time limit for the first frame.
inline constexpr std::chrono::seconds kLookPatience{10};

/// Opens a file, reads its first frame and closes it. It may take long, so do not call it on the drawing
/// thread. The preview has sides of at most `side` pixels, each the value of the pixel in its middle; grey
/// from the 0.5 to the 99.5 percentile. Throws UsageError or RunError as opening would. Refuses pipes and
/// devices, whose data is consumed or endless.
FirstLook first_look(const SourceArgument& source, int side,
                     std::chrono::milliseconds patience = kLookPatience);
/// Stamp of a file, which changes when the file changes. 0 for a pattern or a missing file. May wait for a
/// disk.
std::uint64_t file_stamp(const SourceArgument& source);

/// Files, and no camera, address or simulated scene.
bool names_files(const SourceArgument& source);

/// True for the text of a source that begins with its kind: "synthetic", "v4l2:/dev/video0".
bool names_kind(const std::string& text);

/// A file, or a folder, and none of this name is there. May wait for a disk.
bool is_gone(const SourceArgument& source);

/// Cameras that could be opened now, as SOURCE with name and modes: takes a second or two.
std::vector<std::pair<std::string, std::string>> cameras_now();

} // namespace specklescope
