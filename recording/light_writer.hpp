// One picture of light, whole or not at all, under options.path or a numbered name if that is taken; each
// returns the name and throws RunError.
#pragma once

#include "recording/record_file.hpp"

namespace specklescope {

/// Radiance .hdr: RGB with a shared exponent, within 1 % of the largest channel; grey becomes three equal
/// channels, what is below 0 or no number becomes 0.
std::string write_hdr_picture(const RecordedFrame& frame, const FileTotals& totals,
                              const RecordOptions& options, const StreamInfo& stream);
/// OpenEXR .exr: R, G, B or Y in 32-bit float, exactly as they are, zip-compressed.
std::string write_exr_picture(const RecordedFrame& frame, const FileTotals& totals,
                              const RecordOptions& options, const StreamInfo& stream);
/// Throws RunError in a build without OpenEXR.
void check_exr(RecordWhat what);

} // namespace specklescope
