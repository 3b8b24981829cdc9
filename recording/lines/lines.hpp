// What is written for each line region of each frame: kymographs (the profile over time, as TIFF) and the
// width of the vessel under the line, in a table of text.
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

/// Comma-separated values as those of traces, a row for each line of each frame: fit_vessel_width() of
/// LineProfile(line, band), of what may be averaged (K² of K and of a flow index: the window of a contrast is
/// a blur of K², and moves no point of half depth of it). Columns: sequence, capture_s, region, width,
/// width_std, centre, depth, fit, centre_std, baseline, edge, r2, arrival_s, version; nan where the fit is
/// not "ok". Lines that begin with # state chain, map, exposure and lines, and again after a change. Files
/// are created, replaced and written as those of traces (recording/traces.hpp).
std::shared_ptr<Sink> make_widths(const std::string& path, int band);

/// Throws RunError as open() would.
void check_widths(const std::string& path);

} // namespace specklescope
