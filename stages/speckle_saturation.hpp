// How many windows hold a saturated sample: the count, and the frames that have none told apart cheaply.
#pragma once

#include "stages/speckle_tile.hpp"

#include <cstdint>
#include <optional>

namespace specklescope {

/// Smallest value that counts as saturated, or none: info.full_scale, the type's own where that is 0.
std::optional<double> saturation_threshold(PixelType type, const FrameInfo& info);

/// Whether a sample of rows [begin, end) is at `threshold` or above; f32 (integers: sample_range tells).
bool any_saturated(ConstHostView image, int begin, int end, double threshold);

/// Output pixels of rows [y0, y1) whose window holds a sample at `threshold` or above. Border samples repeat
/// image samples that lie in the same window, so that they need no look. `scratch`: of the size below.
std::uint64_t count_saturated(const SpeckleTile& rows, double threshold, std::uint8_t* scratch);
std::size_t saturation_scratch_bytes(int width);

} // namespace specklescope
