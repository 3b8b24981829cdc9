// Single pixels of a picture on the screen: their values, where they are large enough, and a mark on one.
#pragma once

#include "ui/canvas/view.hpp"

#include <functional>
#include <string>

namespace specklescope {

/// Pixels are large enough for a value of four digits.
bool pixels_are_readable(const Camera::Placement& placement);

/// Writes `text`(x, y) into every pixel of `image` that lies wholly in `area`, if they are readable. Returns
/// how many were written; an empty text is not.
int draw_pixel_values(const Rect& area, const Camera::Placement& placement, const Shape& image,
                      const std::function<std::string(int, int)>& text);

/// Lines through the middle of pixel (x, y), over the whole of `area`, and a frame around the pixel.
void draw_crosshair(const Rect& area, const Camera::Placement& placement, int x, int y);

} // namespace specklescope
