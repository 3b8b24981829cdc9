// How large a pixel is, in µm a side, followed through the stages that make one pixel of several.
#pragma once

#include "pipeline/sink.hpp"

#include <string>
#include <string_view>

namespace specklescope {

/// Pixels of the source side by side in one pixel of the chain's results, 1 or more: the product of the
/// factors of `downsample`. Every other stage leaves pixels as large as they were (a test walks the
/// registry).
double source_pixels_per_pixel(const Chain& chain);

/// Whether a stage in effect puts pixels elsewhere. Where none does, a result lies on its raw picture pixel
/// on pixel; where it is smaller, in the middle of it.
bool moves_pixels(const Chain& chain);

/// µm a side of a pixel of results of this chain, or of raw frames (null); 0: unknown.
double um_per_px(const StreamInfo& stream, const Chain* chain);

/// Who says how large a pixel is: "file", which is played back, "given" by a person, or "unknown".
std::string_view scale_origin(const StreamInfo& stream);
/// "2.5 µm per pixel, as the file says", "4 µm per pixel, as given; the file says 2.5": of a pixel as in
/// um_per_px(); empty: unknown.
std::string scale_text(const StreamInfo& stream, const Chain* chain);

} // namespace specklescope
