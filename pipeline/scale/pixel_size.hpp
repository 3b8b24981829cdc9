// Size of a pixel in µm, through the stages that combine pixels.
#pragma once

#include "pipeline/sink.hpp"

#include <string>
#include <string_view>

namespace specklescope {

/// Raw pixels per result pixel along one side, 1 or more: the product of the factors of `downsample`. All
/// other stages keep the pixel size (a test checks the registry).
double source_pixels_per_pixel(const Chain& chain);

/// True if an active stage moves pixels. Otherwise results match the raw image pixel by pixel; a smaller
/// result is centred.
bool moves_pixels(const Chain& chain);

/// Side of a pixel in µm, of results of this chain or of raw frames (null); 0: unknown.
double um_per_px(const StreamInfo& stream, const Chain* chain);

/// Origin of the pixel size: "file" (played back), "given" (by the user) or "unknown".
std::string_view scale_origin(const StreamInfo& stream);
/// "2.5 µm per pixel, as the file says", "4 µm per pixel, as given; the file says 2.5": pixel as in
/// um_per_px(); empty: unknown.
std::string scale_text(const StreamInfo& stream, const Chain* chain);

/// A length of 1, 2 or 5 times a power of ten µm, and its label: "500 nm", "200 µm", "1 mm", "2 cm".
struct ScaleBar {
    double um = 0;
    double length = 0; ///< on the screen
    std::string text;
};
/// Longest bar that fits into `room`, with `um` µm per unit of screen length; both above 0.
ScaleBar scale_bar(double um, double room);
/// The same in pixels ("50 px"), where the size of a pixel is unknown: `pixels` per unit of screen length.
/// Its length is 0 if no pixel fits.
ScaleBar pixel_bar(double pixels, double room);

} // namespace specklescope
