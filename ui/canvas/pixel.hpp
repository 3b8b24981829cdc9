// The numbers under the pointer.
#pragma once

#include "pipeline/frame.hpp"
#include "ui/canvas/view.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>

namespace specklescope {

using Color = std::array<double, 3>; ///< red, green, blue in the unit of the picture

/// The sample at (x, y), column and row from the top left; of colours the luma that a grey stage sees.
/// Nothing outside the frame, or without one.
std::optional<double> grey_at(const Frame& frame, int x, int y);
/// The three samples at (x, y) of a frame that has colours; otherwise nothing.
std::optional<Color> color_at(const Frame& frame, int x, int y);

// Single pixels of a picture on the screen: their values, where they are large enough, and a mark on one.

/// Pixels are large enough for a value of four digits.
bool pixels_are_readable(const Camera::Placement& placement);

/// Writes `text`(x, y) into every pixel of `image` that lies wholly in `area`, if they are readable. Returns
/// how many were written; an empty text is not.
int draw_pixel_values(const Rect& area, const Camera::Placement& placement, const Shape& image,
                      const std::function<std::string(int, int)>& text);

/// Lines through the middle of pixel (x, y), over the whole of `area`, and a frame around the pixel.
void draw_crosshair(const Rect& area, const Camera::Placement& placement, int x, int y);

} // namespace specklescope
