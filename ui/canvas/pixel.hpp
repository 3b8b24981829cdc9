// The numbers under the pointer.
#pragma once

#include "pipeline/frame.hpp"

#include <array>
#include <optional>

namespace specklescope {

using Color = std::array<double, 3>; ///< red, green, blue in the unit of the picture

/// The sample at (x, y), column and row from the top left; of colours the luma that a grey stage sees.
/// Nothing outside the frame, or without one.
std::optional<double> grey_at(const Frame& frame, int x, int y);
/// The three samples at (x, y) of a frame that has colours; otherwise nothing.
std::optional<Color> color_at(const Frame& frame, int x, int y);

} // namespace specklescope
