// Display mapping, not a stage: value range, tone curve, colour map and overlay. The viewer's shader and
// colour recordings use the same tables and rule; a test compares them.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/param.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// sRGB (IEC 61966-2-1): light of a code value, and the inverse; 0 and 1 are fixed points. Values below 0
/// mirror those above 0; values above 1 continue with the power.
double srgb_decode(double code);
double srgb_encode(double light);

/// Curve from t, the position of a value in the range (0: low end, 1: high end), to brightness. In the order
/// of the view's menu.
enum class ToneCurve : std::uint8_t {
    automatic, ///< srgb for images of light, linear for everything else
    linear,    ///< t
    srgb,      ///< encoded for the display; above 1 white
    reinhard,  ///< t/(1 + t), encoded: Reinhard and others 2002, eq. 3; nothing becomes white
    filmic ///< t·(2.51·t + 0.03)/(t·(2.43·t + 0.59) + 0.14), encoded: Narkowicz's fit (2015) of the ACES
           ///< film curve; dark a little darker, white from t = 7
};

/// 0…1 for any t; `curve` is not automatic. All are increasing.
double tone(ToneCurve curve, double t);

/// Values of t from which on tone(curve, t)·256 is at least 1, 2 … 255, as counted by map_colors. `curve` is
/// neither automatic nor linear.
const std::array<float, 255>& tone_steps(ToneCurve curve);

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

/// The subject for which a fixed range was chosen.
struct RangeSubject {
    std::string source;   ///< the SOURCE argument
    std::string quantity; ///< Quantity::name
    bool operator==(const RangeSubject&) const = default;
};

/// A fixed range applies to one quantity of one source; for another one it becomes automatic again. Returns a
/// message, empty if nothing changed. `known`: what the range was chosen for; updated.
std::string release_range(Mapping& mapping, RangeSubject& known, const RangeSubject& now);

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

struct Blend {
    double opacity = 0.6; ///< 0…1, of the result
    double threshold = 0; ///< 0…1, fraction of the range: only the raw image is visible below it
    /// First visible index of the colour map, 0…256.
    int first_index() const;
};

/// Mapping of an image to colours.
struct Coloring {
    ColorMap map = ColorMap::grey;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear; ///< never automatic
};

/// Blends the colours (map_colors()): raw·(1 − a) + result·a, rounded to nearest. a is the opacity; it is 0
/// where the colour's index is below Blend::first_index() and where the result is undefined or missing. A
/// smaller result is centred: it lacks a border on each side. Infinite pixels get kInfiniteColor. `rgb`: u8,
/// 3 channels, the size of `raw`.
void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result, const Coloring& of_result,
                  const Blend& blend, HostView rgb);

} // namespace specklescope
