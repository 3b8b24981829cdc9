// Results as whole numbers of 16 bits, for whatever knows no other: value = offset + scale·level.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/mapping.hpp"

namespace specklescope {

struct LevelScale {
    double scale = 1;
    double offset = 0;
};

/// Integers go as they are, in steps of 1; of f32 the range's low end becomes level 0 and its high end 65535.
LevelScale level_scale(PixelType type, ValueRange range);

/// level = round((value − offset)/scale), held between 0 and 65535, so that within the range offset +
/// scale·level is the value to half a step. NaN → 0. `levels`: u16, one channel, the size of `image`, which
/// has one channel.
void to_levels(ConstHostView image, const LevelScale& scale, View<std::uint16_t> levels);

} // namespace specklescope
