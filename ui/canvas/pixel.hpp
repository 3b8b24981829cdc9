// Pixel values under the pointer.
#pragma once

#include "pipeline/frame.hpp"
#include "ui/canvas/view.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>

namespace specklescope {

using Color = std::array<double, 3>; ///< red, green, blue in the unit of the image

/// Sample at (x, y), column and row from the top left; for colour the luma that a grey stage gets. Nullopt
/// outside the frame, or without a frame.
std::optional<double> grey_at(const Frame& frame, int x, int y);
/// Three samples at (x, y) of a colour frame; otherwise nullopt.
std::optional<Color> color_at(const Frame& frame, int x, int y);

// Values written into large pixels, and a crosshair on one pixel.

/// True if the pixels have room for a value of four digits.
bool pixels_are_readable(const Camera::Placement& placement);

/// Writes `text`(x, y) into every pixel of `image` that lies completely in `area`, if the pixels are large
/// enough. Returns the number of texts written, without empty texts.
int draw_pixel_values(const Rect& area, const Camera::Placement& placement, const Shape& image,
                      const std::function<std::string(int, int)>& text);

/// Draws lines through the middle of pixel (x, y) across `area`, and a frame around the pixel.
void draw_crosshair(const Rect& area, const Camera::Placement& placement, int x, int y);

} // namespace specklescope
