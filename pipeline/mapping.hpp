// Display mapping, not a stage: value range, tone curve and colour map. The viewer's shader and colour
// recordings use the same tables and rule; a test compares them.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/param.hpp"
#include "pipeline/tone_curve.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace specklescope {

enum class ColorMap : std::uint8_t { viridis, inferno, magma, turbo, jet, grey, rdbu };
using Rgb = std::array<std::uint8_t, 3>;

/// 256 colours, low to high.
const std::array<Rgb, 256>& color_table(ColorMap map);

struct Mapping {
    ColorMap colormap = ColorMap::turbo;
    bool automatic = true; ///< range from percentiles of each image
    double low = 0;        ///< used when not automatic; updated by automatic
    double high = 1;
    double low_percentile = 1;
    double high_percentile = 99;
    double exposure_stops = 0; ///< gain 2^stops before the range; the data are unchanged
    ToneCurve curve = ToneCurve::automatic;
};
const ParamTable& mapping_table(); ///< owner "view"

struct ValueRange {
    double low = 0, high = 1;
};
/// The range that shows values v as `range` shows v·2^stops: both ends divided by 2^stops. Only place that
/// applies exposure_stops; the shader and map_colors get the result.
ValueRange exposed(ValueRange range, double stops);

/// Effective curve for an image with this number of channels. `picture`: is_picture() of its frame. Never
/// automatic; always linear for false-colour maps, which are read with a scale.
ToneCurve curve_in_effect(const Mapping& mapping, int channels, bool picture);

/// Appends the finite values of the first channel on a regular grid of about 65 536 pixels. Returns the
/// number of grid pixels.
std::size_t sample_values(ConstHostView image, std::vector<float>& finite);
/// Percentiles of those values; {0, 1} if there are none.
ValueRange percentile_range(ConstHostView image, double low_percentile, double high_percentile);

/// index = clamp(floor(tone(curve, (v − low)/(high − low))·256), 0, 255); ±∞ → kInfiniteColor,
/// NaN → kUndefinedColor. Colour input (3 channels) is scaled, not mapped; there +∞ → 255, −∞ and NaN → 0.
/// `rgb`: u8, 3 channels, same size.
void map_colors(ConstHostView image, ColorMap map, ValueRange range, ToneCurve curve, HostView rgb);
inline constexpr Rgb kUndefinedColor{90, 90, 90};
inline constexpr Rgb kInfiniteColor{255, 0, 255};  ///< in no map: magma and inferno stay darker
inline constexpr Rgb kSaturatedColor{255, 38, 26}; ///< raw pixels at full scale, in the window

} // namespace specklescope
