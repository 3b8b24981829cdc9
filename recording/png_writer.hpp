// One picture as PNG: raw grey or RGB exactly as it came, or a result in colours. Appears whole or not at
// all.
#pragma once

#include "recording/record_file.hpp"

namespace specklescope {

/// Writes the frame and its description under options.path, or a numbered name if that is taken; returns the
/// name. Throws RunError.
std::string write_picture(const RecordedFrame& frame, const FileTotals& totals, const RecordOptions& options,
                          const StreamInfo& stream);

} // namespace specklescope
