// Results as 16-bit integers, for programs that accept nothing else: value = offset + scale·level.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/mapping.hpp"

namespace specklescope {

struct LevelScale {
    double scale = 1;
    double offset = 0;
};

/// Integers stay unchanged, in steps of 1; for f32 the low end of the range becomes level 0 and the high end
/// 65535.
LevelScale level_scale(PixelType type, ValueRange range);

/// level = round((value − offset)/scale), clamped to 0…65535, so that within the range offset + scale·level
/// is the value to half a step. NaN → 0. `levels`: u16, one channel, the size of `image`, which has one
/// channel.
void to_levels(ConstHostView image, const LevelScale& scale, View<std::uint16_t> levels);

} // namespace specklescope
