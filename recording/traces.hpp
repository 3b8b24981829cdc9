// Statistics over regions in a table of text: a row for each region of each frame, complete lines whatever
// happens to the process.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

class BaselineImage;

/// Comma-separated values (RFC 4180, lines end in \n). Lines that begin with # tell source, units, settings,
/// regions, and the chain again where an edit has changed it; then a line with the names of the columns:
/// sequence, capture_s, arrival_s, region, mean, std, min, max, valid, infinite, saturated, version, and more
/// behind them. Needs no pixels on the host. Lines are written by a thread of its own, about five
/// times a second, and are whole whatever kills the process (recording/line_pages.hpp), for which lines of
/// nothing but # and spaces stand between some. open() throws RunError if the file cannot be made, or one of
/// that name holds anything else than traces: that is never replaced. Each open() begins the file anew.
/// With a baseline two columns more: F₀ of the region (docs/science.md, Traces and their baseline) and
/// 100·(mean/F₀ − 1) %, both empty while it is of another size or quantity than the results.
std::shared_ptr<Sink> make_traces(const std::string& path,
                                  std::shared_ptr<const BaselineImage> baseline = nullptr);

/// The same where no table is replaced: `wanted`, or the first numbered name that is free.
std::shared_ptr<Sink> make_new_traces(const std::string& wanted);

/// Throws RunError as open() would.
void check_traces_file(const std::string& path);

} // namespace specklescope
