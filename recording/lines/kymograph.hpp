// Kymographs: the profile of each line region over time, as TIFF.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Files that are written at the same time; one for each line.
inline constexpr std::size_t kMostKymographs = 200;

/// Of each line region a file: for `path` flow.tiff and a line named artery flow-artery.tiff. An f32 TIFF
/// of one page, a row for each frame, a column for each sample of LineProfile(line, band), in the unit of the
/// map; NaN where nothing is known. Its description has ImageJ's calibration, px along and s down, and says
/// in JSON what was measured, with the parameters and the exposure of the first row. Beside it
/// flow-artery.tiff.csv has a line for each row: row, sequence, capture_s, arrival_s, version; lines that
/// begin with # tell the chain and the exposure in front of the first row, and again where they have changed
/// ("settings_changed" of the description counts how often). A taken name gets a number; so does the next
/// file of a line that was moved, or whose map became another quantity. Written about five times a second:
/// what a file says it holds is there, whatever happens to the process. open() throws as check_kymograph().
std::shared_ptr<Sink> make_kymograph(const std::string& path, int band);

/// "out/flow-artery.tiff" of out/flow.tiff and a region named artery; no longer than names of files may be,
/// that of its table included.
std::string kymograph_path(const std::string& path, const std::string& region);

/// Throws UsageError for an ending other than .tiff or .tif, RunError if nothing can be written there.
void check_kymograph(const std::string& path);

} // namespace specklescope
