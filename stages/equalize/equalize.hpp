// Histogram equalisation: parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace specklescope {

/// The value v of a pixel (grey: the sample; colour: V of HSV, the largest channel) becomes r(bin of v), the
/// cumulative histogram scaled to the range of the input (Gonzalez and Woods, Digital Image Processing, 4th
/// ed., section 3.3). Colour keeps hue and saturation: each channel is multiplied by new V / old V. HSV has
/// no negative samples: in colour they count as 0, and the input's fraction of them (1 − strength) is kept.
///
/// The range is [0, full scale] for u8 and u16 (the camera's if known; samples above count as full scale) and
/// [smallest, largest] finite value of the frame for f32. A pixel with a NaN or an infinity is not counted
/// and stays unchanged, as does every pixel of a frame whose values are all in one bin.
struct EqualizeParams {
    enum class Scaling : std::uint8_t {
        maxabs, ///< r/r_max: skimage.exposure.equalize_hist
        minmax  ///< (r − r_min)/(r_max − r_min), r_min of the darkest used bin: cv::equalizeHist
    };
    static constexpr int kMaxBins = 65536;

    int bins = 4096;
    Scaling scaling = Scaling::maxabs;
    double strength = 1; ///< 0: the input, 1: the equalised V
};

/// Quantity after an equalisation: the input's range and order, but ranks instead of measurements: "SFI eq."
/// in a.u.
Quantity equalized_quantity(const Quantity& input);

/// The input's shape. Throws UsageError for 2³² pixels or more, which exceed 32-bit counts.
Shape equalize_shape(const Shape& input);
/// Note if more bins were requested than the pixel type has levels.
std::string equalize_note(int bins, PixelType type);

StageType equalize_stage();
std::unique_ptr<DeviceStage> make_equalize_device(const Params& params);

// Arithmetic of histogram equalisation, one pixel or one bin at a time, for host and device. Every operation
// is on integers, exact, or rounded once, so that fused multiply-add changes no bit.

/// strength in units of 1/65536.
inline constexpr std::uint32_t kFullStrength = 65536;
inline std::uint32_t equalize_weight(double strength) {
    return static_cast<std::uint32_t>(std::lround(strength * kFullStrength));
}

// --- bins ---

/// Bins of the levels 0…full; at most one per level.
struct LevelBins {
    std::uint32_t full;
    std::uint32_t bins;
    std::uint32_t factor; ///< 0: a bin per level; else bins/(full + 1) in units of 2⁻³², rounded up
};

inline LevelBins level_bins(int bins, PixelType type, double full_scale) {
    const double top = type_full_scale(type);
    const double full = full_scale > 0 ? std::fmax(1, std::fmin(top, std::floor(full_scale))) : top;
    LevelBins result{static_cast<std::uint32_t>(full), 0, 0};
    const std::uint64_t levels = result.full + 1;
    result.bins = static_cast<std::uint32_t>(bins);
    if (result.bins >= levels)
        result.bins = static_cast<std::uint32_t>(levels);
    else
        result.factor =
            static_cast<std::uint32_t>(((static_cast<std::uint64_t>(bins) << 32) + levels - 1) / levels);
    return result;
}

/// floor(level·bins/(full + 1)): the rounding of the factor adds less than 1/(full + 1), because full·(full +
/// 1) < 2³².
SPECKLESCOPE_BOTH inline std::uint32_t bin_of(const LevelBins& b, std::uint32_t level) {
    level = level < b.full ? level : b.full;
    return b.factor == 0 ? level
                         : static_cast<std::uint32_t>((static_cast<std::uint64_t>(level) * b.factor) >> 32);
}

/// Equal bins over [low, high].
struct RealBins {
    float low, high;
    float half;  ///< 0.5 if high − low overflows, else 1
    float scale; ///< bins per unit; 0: the whole frame is in bin 0
    std::uint32_t bins;
};

/// One bin unless low < high (constant frames, frames without a finite pixel), or for a range so narrow that
/// `scale` overflows (below 2·10⁻³⁴ for 65536 bins).
SPECKLESCOPE_BOTH inline RealBins real_bins(float low, float high, std::uint32_t bins) {
    RealBins b{low == 0 ? 0.0F : low, high == 0 ? 0.0F : high, 1, 0, bins}; // −0 becomes 0
    if (!(low < high))
        return b;
    if (high - low > FLT_MAX)
        b.half = 0.5F;
    const float scale = static_cast<float>(bins) / (high * b.half - low * b.half);
    b.scale = scale <= FLT_MAX ? scale : 0;
    return b;
}

/// For low ≤ value ≤ high.
SPECKLESCOPE_BOTH inline std::uint32_t bin_of(const RealBins& b, float value) {
    const float place = (value * b.half - b.low * b.half) * b.scale;
    const auto bin = static_cast<std::uint32_t>(place);
    return bin < b.bins ? bin : b.bins - 1;
}

SPECKLESCOPE_BOTH inline bool is_finite(float value) { return value - value == 0; }

// --- from counts to values ---

/// (count − base)/span of cumulative counts; span 0: the frame stays unchanged.
struct CumulativeScale {
    std::uint32_t base, span;
};

/// For `total` pixels with `first` of them in the lowest used bin.
SPECKLESCOPE_BOTH inline CumulativeScale cumulative_scale(EqualizeParams::Scaling scaling,
                                                          std::uint32_t total, std::uint32_t first) {
    if (first == total)
        return {0, 0};
    return scaling == EqualizeParams::Scaling::maxabs ? CumulativeScale{0, total}
                                                      : CumulativeScale{first, total - first};
}

SPECKLESCOPE_BOTH inline std::uint32_t counted(const CumulativeScale& scale, std::uint32_t cumulative) {
    return cumulative > scale.base ? cumulative - scale.base : 0;
}

/// full·r, to nearest, ties to even: both sides of the division are below 2⁵³, and a quotient that is not a
/// tie differs from one by more than the rounding.
SPECKLESCOPE_BOTH inline std::uint32_t equalized_level(const CumulativeScale& scale, std::uint32_t cumulative,
                                                       std::uint32_t full) {
    const double product = static_cast<double>(static_cast<std::uint64_t>(counted(scale, cumulative)) * full);
    return static_cast<std::uint32_t>(rint(product / static_cast<double>(scale.span)));
}

/// ((65536 − weight)·level + weight·equalized)/65536, to nearest, ties to even. Both levels up to 65535.
SPECKLESCOPE_BOTH inline std::uint32_t mixed_level(std::uint32_t level, std::uint32_t equalized,
                                                   std::uint32_t weight) {
    const std::uint32_t sum = level * (kFullStrength - weight) + equalized * weight;
    return (sum + 0x7FFFU + ((sum >> 16) & 1U)) >> 16;
}

/// Output of `level` (clamped to full scale). `cumulative`: cumulative counts per bin.
SPECKLESCOPE_BOTH inline std::uint32_t mapped_level(const LevelBins& bins, const CumulativeScale& scale,
                                                    std::uint32_t weight, const std::uint32_t* cumulative,
                                                    std::uint32_t level) {
    level = level < bins.full ? level : bins.full;
    if (scale.span == 0)
        return level;
    return mixed_level(level, equalized_level(scale, cumulative[bin_of(bins, level)], bins.full), weight);
}

/// low + r·(high − low) of one bin.
SPECKLESCOPE_BOTH inline float equalized_value(const RealBins& bins, const CumulativeScale& scale,
                                               std::uint32_t cumulative) {
    const std::uint32_t count = counted(scale, cumulative);
    if (count == scale.span)
        return bins.high;
    const double r = static_cast<double>(count) / static_cast<double>(scale.span);
    const double range = static_cast<double>(bins.high) - static_cast<double>(bins.low);
    return static_cast<float>(fma(range, r, static_cast<double>(bins.low)));
}

/// In float64, where both products are exact.
SPECKLESCOPE_BOTH inline float mixed_value(float value, float equalized, std::uint32_t weight) {
    if (weight == kFullStrength)
        return equalized;
    return static_cast<float>((static_cast<double>(value) * static_cast<double>(kFullStrength - weight) +
                               static_cast<double>(equalized) * static_cast<double>(weight)) *
                              (1.0 / kFullStrength));
}

// --- colour: R' = R·V'/V keeps hue and saturation, RGB being linear in V ---

/// R·V'/V to nearest, ties to even, in u16's range; black becomes grey V'.
SPECKLESCOPE_BOTH inline std::uint32_t scaled_channel(std::uint32_t channel, std::uint32_t new_v,
                                                      std::uint32_t v) {
    if (v == 0)
        return new_v;
    const std::uint32_t product = channel * new_v;
    const std::uint32_t quotient = product / v;
    const std::uint32_t rest = product - quotient * v;
    const bool up = rest > v - rest || (rest == v - rest && (quotient & 1U) != 0);
    return quotient + (up ? 1 : 0);
}

/// The same for u8 with one multiplication and two roundings in f32, fastest on GPUs. kByteBase + byte is the
/// float 0x4B0000xx; kByteGrid + result has steps of 2⁻¹⁰.
inline constexpr float kByteBase = 8388608.0F; // 2²³
inline constexpr float kByteGrid = 8192.0F;    // 2¹³

/// V'/V in units of 2⁻¹⁶/V's power of two: products are exact to 2⁻¹⁶, and byte_offset() is exact. 0 for V =
/// 0.
SPECKLESCOPE_BOTH inline float byte_ratio(std::uint32_t new_v, std::uint32_t v) {
    if (v == 0)
        return 0;
    double unit = 65536;
    for (std::uint32_t rest = v; rest > 1; rest /= 2)
        unit *= 2;
    return static_cast<float>(rint(static_cast<double>(new_v) * unit / static_cast<double>(v)) / unit);
}
/// Removes kByteBase·ratio again. For V = 0 use kByteGrid + V' instead.
SPECKLESCOPE_BOTH inline float byte_offset(float ratio) { return fmaf(ratio, -kByteBase, kByteGrid); }

/// The result is the low byte of the returned bits, for `sample` = kByteBase + channel. A product that is not
/// a tie is at least 1/510 away from one, so that rounding to 2⁻¹⁰ keeps ties exact and the addition rounds
/// them to even.
SPECKLESCOPE_BOTH inline float scaled_byte(float sample, float ratio, float offset) {
    return fmaf(sample, ratio, offset) + (kByteBase - kByteGrid);
}

/// V'·(R/V), exactly V' for R = V; black becomes grey V'. Negative samples count as 0: V is never below.
SPECKLESCOPE_BOTH inline float scaled_channel(float channel, float new_v, float v) {
    const float share = v > 0 ? (channel > 0 ? channel : 0.0F) / v : 1.0F;
    return new_v * share;
}
/// Adds the remaining fraction of a negative sample to `scaled`, for less than full strength. The product is
/// exact in float64.
SPECKLESCOPE_BOTH inline float with_negative(float scaled, float channel, std::uint32_t weight) {
    if (!(channel < 0))
        return scaled;
    const double part = static_cast<double>(kFullStrength - weight) * (1.0 / kFullStrength);
    return static_cast<float>(static_cast<double>(scaled) + static_cast<double>(channel) * part);
}

// Equalisation of one pixel of any type and channel count, for host and device.

/// V of HSV: the largest channel, at least 0. Grey: the sample.
template <int C, class T> SPECKLESCOPE_BOTH inline T pixel_v(const T* pixel) {
    T v = C == 1 ? pixel[0] : T{0};
    for (int c = C == 1 ? 1 : 0; c < C; ++c)
        v = pixel[c] > v ? pixel[c] : v;
    return v;
}

template <int C> SPECKLESCOPE_BOTH inline bool finite_pixel(const float* pixel) {
    bool finite = true;
    for (int c = 0; c < C; ++c)
        finite = finite && is_finite(pixel[c]);
    return finite;
}

/// u16 through its table for the levels 0…full.
template <int C> SPECKLESCOPE_BOTH inline void map_pixel(const std::uint16_t* in, std::uint16_t* out,
                                                         const std::uint16_t* levels, std::uint32_t full) {
    const std::uint32_t v = pixel_v<C>(in);
    const std::uint32_t new_v = levels[v < full ? v : full];
    for (int c = 0; c < C; ++c)
        out[c] = static_cast<std::uint16_t>(C == 1 ? new_v : scaled_channel(in[c], new_v, v));
}

/// f32 through its table: the equalised value of each bin.
template <int C> SPECKLESCOPE_BOTH inline void map_pixel(const float* in, float* out, const float* values,
                                                         const RealBins& bins, std::uint32_t weight) {
    if (!finite_pixel<C>(in)) {
        for (int c = 0; c < C; ++c)
            out[c] = in[c];
        return;
    }
    const float v = pixel_v<C>(in);
    const float new_v = mixed_value(v, values[bin_of(bins, v)], weight);
    for (int c = 0; c < C; ++c)
        out[c] = C == 1 ? new_v : with_negative(scaled_channel(in[c], new_v, v), in[c], weight);
}

} // namespace specklescope
