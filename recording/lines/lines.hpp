// Output for each line region of each frame: kymographs (the profile over time, as TIFF) and a table of the
// width of the vessel under the line.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

/// Maximum number of files open at the same time.
inline constexpr std::size_t kMostKymographs = 200;

/// One file for each line region: flow-artery.tiff for `path` flow.tiff and a line named artery. An f32 TIFF
/// of one page with a row for each frame and a column for each sample of LineProfile(line, band), in the unit
/// of the map; NaN if unknown. The description has ImageJ's calibration (px along, s down) and, in JSON, what
/// was measured, with parameters and exposure of the first row. flow-artery.tiff.csv has a line for each row:
/// row, sequence, capture_s, arrival_s, version. Lines that begin with # give chain and exposure before the
/// first row, and again after a change
/// ("settings_changed" of the description counts changes). A taken name gets a number; so does the next file
/// of a line that was moved, or whose map became another quantity. Files are written about five times a
/// second and are valid after each write. open() throws as check_kymograph() does.
std::shared_ptr<Sink> make_kymograph(const std::string& path, int band);

/// "out/flow-artery.tiff" for out/flow.tiff and a region named artery. Shortened if this name or the name of
/// its table is too long.
std::string kymograph_path(const std::string& path, const std::string& region);

/// Throws UsageError for an ending other than .tiff or .tif, RunError if nothing can be written there.
void check_kymograph(const std::string& path);

/// Comma-separated values, a row for each line of each frame: fit_vessel_width() of LineProfile(line, band),
/// fitted to what may be averaged (K² for K and for a flow index: the window of a contrast blurs K² and does
/// not move its points of half depth). Columns: sequence, capture_s, region, width, width_std, centre, depth,
/// fit, centre_std, baseline, edge, r2, arrival_s, version; nan unless the fit is "ok". Lines that begin with
/// # give chain, map, exposure and lines, and again after a change. Files are created, replaced and written
/// as traces are (recording/traces.hpp).
std::shared_ptr<Sink> make_widths(const std::string& path, int band);

/// Throws RunError as open() does.
void check_widths(const std::string& path);

} // namespace specklescope
