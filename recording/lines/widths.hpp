// The width of the vessel under each line region, over time, in a table of text.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

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
