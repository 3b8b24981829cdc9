// Contrast-limited adaptive histogram equalisation: K. Zuiderveld, "Contrast Limited Adaptive Histogram
// Equalization", Graphics Gems IV (1994), VIII.5.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/equalize/equalize.hpp"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace specklescope {

/// Each tile's clipped histogram defines the mapping at the tile's centre; between centres pixels blend the
/// mappings of the four surrounding tiles. Grey images, or V = max(R, G, B) of HSV for colour, keeping hue
/// and saturation; negative colour samples count as 0. Integers are mapped from [0, full scale] to [0, full
/// scale], f32 within the smallest and largest finite value of the frame; a pixel that is not finite is not
/// counted and stays unchanged. For u8 with 256 bins this equals OpenCV's createCLAHE.
struct ClaheParams {
    static constexpr int kMaxBins = 4096;

    int tiles = 8;
    /// In mean bin heights, like OpenCV's clipLimit: a bin holds at most max(1, ⌊clip·pixels of a
    /// tile/bins⌋); the excess is distributed over all bins. 0: no limit.
    double clip = 2;
    int bins = 256; ///< integer images have at most one per level
};

/// Tiles are equal. If they do not divide the image, it is extended to the right and below, mirrored at its
/// last pixel, by `tiles` minus the remainder of each axis (like OpenCV: by `tiles` if only one axis
/// divides).
struct ClaheTiling {
    int tiles = 1;
    int width = 1, height = 1; ///< of a tile
    SPECKLESCOPE_BOTH int area() const { return width * height; }
};
/// Throws UsageError for tiles of 2³¹ pixels or more, which exceed an int.
ClaheTiling clahe_tiling(const ClaheParams& params, const Shape& input);

/// Cell c of an axis is between the centres of tiles c − 1 and c; the first and last cell have one neighbour.
/// Pixels [cells[c], cells[c + 1]) are in cell c; tiles + 2 numbers.
std::vector<int> clahe_cells(int pixels, int tile_side, int tiles);

/// Largest value of an integer image: the camera's if known.
int clahe_full_scale(PixelType type, const FrameInfo& info);
/// Limit of a bin's height; 0: none.
int clahe_clip_limit(double clip, int area, int bins);

StageType clahe_stage();
std::unique_ptr<DeviceStage> make_clahe_device(const Params& params);

// Arithmetic of stage clahe, bit-identical on host and device: product() and sum() are never fused.

/// Scales from values to bins and from counts to values.
struct ClaheLevels {
    int bins = 1;
    float low = 0, high = 0;
    float bins_per_value = 0;
    float value_per_count = 0;
};

/// For an image with levels 0 … full.
SPECKLESCOPE_BOTH inline ClaheLevels clahe_integer_levels(int full, int bins, int area) {
    ClaheLevels levels;
    levels.bins = bins <= full ? bins : full + 1;
    levels.high = static_cast<float>(full);
    levels.bins_per_value = static_cast<float>(levels.bins) / static_cast<float>(full + 1);
    levels.value_per_count = levels.high / static_cast<float>(area);
    return levels;
}

/// For an f32 image with finite values from low to high; low > high: none. A range beyond f32 is clamped to
/// half of the type's; one too small to divide by is a constant image.
SPECKLESCOPE_BOTH inline ClaheLevels clahe_real_levels(float low, float high, int bins, int area) {
    ClaheLevels levels;
    levels.bins = bins;
    if (!(low <= high))
        return levels;
    levels.low = low + 0.0F; // not −0
    levels.high = high + 0.0F;
    if (high - low > FLT_MAX) {
        levels.low = low > -0.5F * FLT_MAX ? low : -0.5F * FLT_MAX;
        levels.high = high < 0.5F * FLT_MAX ? high : 0.5F * FLT_MAX;
    }
    const float range = levels.high - levels.low;
    const float scale = static_cast<float>(bins) / range;
    levels.bins_per_value = scale <= FLT_MAX ? scale : 0.0F;
    levels.value_per_count = range / static_cast<float>(area);
    return levels;
}

/// Values above the range go to the last bin; NaN to bin `bins`, which is never read.
SPECKLESCOPE_BOTH inline int clahe_bin(float value, const ClaheLevels& levels) {
    const float last = static_cast<float>(levels.bins - 1);
    float at = product(sum(value, -levels.low), levels.bins_per_value);
    at = at > 0.0F ? at : 0.0F;
    at = at < last ? at : last;
    const int bin = static_cast<int>(at);
    return is_finite(value) ? bin : levels.bins;
}

/// Output value of a bin, if `count` pixels of the tile are in it or below.
template <class T> SPECKLESCOPE_BOTH inline T clahe_mapped(int count, const ClaheLevels& levels) {
    const float value = product(static_cast<float>(count), levels.value_per_count);
    if constexpr (std::is_same_v<T, float>) {
        const float shifted = sum(levels.low, value);
        return shifted < levels.high ? shifted : levels.high;
    } else {
        return static_cast<T>(rintf(value));
    }
}

/// Height of bin i after clipping to `limit`: the excess is distributed equally, and its remainder to every
/// `step`-th bin.
struct ClaheShare {
    int each = 0, rest = 0, step = 1;
};
SPECKLESCOPE_BOTH inline ClaheShare clahe_share(int clipped, int bins) {
    ClaheShare share;
    share.each = clipped / bins;
    share.rest = clipped - share.each * bins;
    share.step = share.rest > 0 && bins > share.rest ? bins / share.rest : 1;
    return share;
}
SPECKLESCOPE_BOTH inline int clahe_height(int count, int i, int limit, const ClaheShare& share) {
    if (limit <= 0)
        return count;
    const int extra = i % share.step == 0 && i / share.step < share.rest ? 1 : 0;
    return (count < limit ? count : limit) + share.each + extra;
}

/// Position of a pixel relative to the tiles' centres: −0.5 … tiles − 0.5. Like OpenCV's, half a pixel to the
/// left of the exact one.
SPECKLESCOPE_BOTH inline float clahe_position(float pixel, float tiles_per_pixel) {
    return sum(product(pixel, tiles_per_pixel), -0.5F);
}
SPECKLESCOPE_BOTH inline float clahe_position(int pixel, float tiles_per_pixel) {
    return clahe_position(static_cast<float>(pixel), tiles_per_pixel);
}

/// Bilinear: `right` and `below` are the weights of the second column and row, 0 … 1.
SPECKLESCOPE_BOTH inline float clahe_blend(const float (&corner)[4], float right, float below) {
    const float left = sum(1.0F, -right);
    const float above = sum(1.0F, -below);
    const float first = sum(product(corner[0], left), product(corner[1], right));
    const float second = sum(product(corner[2], left), product(corner[3], right));
    return sum(product(first, above), product(second, below));
}

/// Pixel i of an axis mirrored at its last and first pixel: … c b | a b c | b a …
SPECKLESCOPE_BOTH inline int clahe_mirrored(int i, int pixels) {
    if (pixels == 1)
        return 0;
    const int period = 2 * (pixels - 1);
    const int rest = i % period;
    return rest < pixels ? rest : period - rest;
}

/// V of HSV, at least 0; NaN if a sample of the pixel is not finite.
template <class T> SPECKLESCOPE_BOTH inline T hsv_value(T r, T g, T b) {
    T most = r > T{0} ? r : T{0};
    most = g > most ? g : most;
    most = b > most ? b : most;
    if constexpr (std::is_same_v<T, float>)
        most = is_finite(r) && is_finite(g) && is_finite(b) ? most : NAN;
    return most;
}
/// The same for a grey pixel.
template <class T> SPECKLESCOPE_BOTH inline T grey_value(T v) {
    if constexpr (std::is_same_v<T, float>)
        v = is_finite(v) ? v : NAN;
    return v;
}
/// True if a value of these two functions is counted.
template <class T> SPECKLESCOPE_BOTH inline bool counts(T value) {
    if constexpr (std::is_same_v<T, float>)
        return is_finite(value);
    else
        return true;
}

/// A sample of a pixel whose V changes to `to`, as in stage equalize.
template <class T> SPECKLESCOPE_BOTH inline T with_value(T sample, T to, T value) {
    using Wide = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
    return static_cast<T>(
        scaled_channel(static_cast<Wide>(sample), static_cast<Wide>(to), static_cast<Wide>(value)));
}

} // namespace specklescope
