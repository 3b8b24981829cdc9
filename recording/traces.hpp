// Statistics over regions in a table of text: a row for each region of each frame.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

class BaselineImage;

/// Comma-separated values (RFC 4180, lines end in \n). Lines that begin with # state source, units, settings
/// and regions, and the chain again after an edit; then follows a line with the names of the columns:
/// sequence, capture_s, arrival_s, region, mean, std, min, max, valid, infinite, saturated, version, and
/// more. Needs no pixels on the host. A separate thread writes rows about five times a second. After a kill
/// the last row may be incomplete. open() throws RunError if the file cannot be created, or if a file of that
/// name is not a table of traces. Each open() begins the file again. With a baseline two more columns: F₀ of
/// the region (docs/science.md, Traces and their baseline) and 100·(mean/F₀ − 1) %; empty while its size or
/// quantity differs from that of the results.
std::shared_ptr<Sink> make_traces(const std::string& path,
                                  std::shared_ptr<const BaselineImage> baseline = nullptr);

/// The same without replacing a table: `wanted`, or the first numbered name that is free.
std::shared_ptr<Sink> make_new_traces(const std::string& wanted);

/// Throws RunError as open() would.
void check_traces_file(const std::string& path);

} // namespace specklescope
