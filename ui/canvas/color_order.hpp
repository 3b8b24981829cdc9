// Which colour maps can be read without seeing hues.
#pragma once

#include "pipeline/mapping.hpp"

namespace specklescope {

/// The map's luminance (IEC 61966-2-1, ITU-R BT.709) grows from its first colour to its last, but for the
/// rounding of its 8 bits: who sees some hues as one, or prints it in grey, still sees the order of values.
bool grows_in_lightness(ColorMap map);

} // namespace specklescope
