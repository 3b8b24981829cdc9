// Running sums of one pixel over its last n samples: arithmetic shared by host loops and kernels.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/image.hpp"
#include "stages/contrast_finish.hpp"
#include "stages/temporal/temporal.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace specklescope {

// --- integers: exact ---

/// Σ packed_sample(I): ΣI² in the low 40 bits, ΣI in the high 24, added and subtracted together.
SPECKLESCOPE_BOTH constexpr std::uint64_t packed_sample(std::uint32_t sample) {
    return std::uint64_t{sample} << 40 | sample * sample;
}
/// True if both sums fit their bits: 256·65535² < 2⁴⁰.
constexpr bool packed_sums_fit(PixelType type, int frames) {
    return type == PixelType::u8 || (type == PixelType::u16 && frames <= 256);
}
static_assert(kMaxTemporalFrames * 255ULL * 255 < std::uint64_t{1} << 40);
static_assert(kMaxTemporalFrames * 65535ULL < std::uint64_t{1} << 25);
inline constexpr std::size_t kWideSumsBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);

/// The same in 32 bits for few samples of u8: Σ(I − 128)² in the low 19 bits, Σ(I − 128) in the high 13.
inline constexpr int kNarrowFrames = 31;
inline constexpr int kNarrowOrigin = 128;
inline constexpr int kNarrowBits = 19;
SPECKLESCOPE_BOTH constexpr std::uint32_t narrow_sample(std::uint32_t sample) {
    const std::uint32_t moved = sample - kNarrowOrigin;
    return (moved << kNarrowBits) + moved * moved;
}
constexpr bool narrow_sums_fit(PixelType type, int frames) {
    return type == PixelType::u8 && frames <= kNarrowFrames;
}
static_assert(kNarrowFrames * kNarrowOrigin * kNarrowOrigin < 1 << kNarrowBits);
static_assert(kNarrowFrames * kNarrowOrigin <= 1 << 12);

struct IntegerSums {
    std::uint64_t q; ///< ΣI², below 2⁴¹
    std::uint32_t s; ///< ΣI, below 2²⁵
};
SPECKLESCOPE_BOTH constexpr IntegerSums unpacked(std::uint64_t sums) {
    return {sums & ((std::uint64_t{1} << 40) - 1), static_cast<std::uint32_t>(sums >> 40)};
}
/// D = N·ΣI² − (ΣI)², below 2⁵⁰.
SPECKLESCOPE_BOTH constexpr std::uint64_t determinant(IntegerSums sums, std::uint32_t n) {
    return n * sums.q - std::uint64_t{sums.s} * sums.s;
}

// --- f32: sums in float64 without lasting errors of earlier samples ---

/// s = Σ(I − reference) and q = Σ(I − reference)². The reference is a sample of the window, so that a
/// constant window gives exactly 0 and a small contrast on a high mean loses no precision.
struct RealSums {
    double s, q;
    float reference;
    float peak; ///< largest |I − reference| added since the sums were last recomputed
};
inline constexpr std::size_t kRealSumsBytes = 2 * sizeof(double) + 2 * sizeof(float);
/// Each row is recomputed once in this many frames, which limits rounding errors.
inline constexpr int kRenewFrames = 1024;
SPECKLESCOPE_BOTH constexpr bool renewed(int row, std::uint64_t tick) {
    return (tick + static_cast<std::uint64_t>(row)) % kRenewFrames == 0;
}

/// Sums of a window from its samples; at(k) is the k-th newest of `held`. Stops at the first sample that is
/// not finite: s and q are then NaN.
template <class At> SPECKLESCOPE_BOTH inline RealSums summed_anew(int held, const At& at) {
    RealSums sums{0, 0, at(0), 0};
    for (int k = 0; k < held; ++k) {
        const double difference = static_cast<double>(at(k)) - static_cast<double>(sums.reference);
        if (!std::isfinite(difference)) {
            const double undefined = difference - difference; // ±∞ − ±∞
            return {undefined, undefined, 0, 0};
        }
        sums.s += difference;
        sums.q += difference * difference;
        sums.peak = fmaxf(sums.peak, static_cast<float>(fabs(difference)));
    }
    return sums;
}

/// True if so much has cancelled that rounding errors show: D compared to its largest possible value.
/// Recomputed sums have D ≥ peak², which is above the limit for up to 500 samples. False for NaN.
SPECKLESCOPE_BOTH inline bool needs_resummation(const RealSums& sums, double n) {
    const double most = n * static_cast<double>(sums.peak);
    return n * sums.q - sums.s * sums.s < 1e-6 * most * most;
}

/// Adds one sample.
SPECKLESCOPE_BOTH inline void add_sample(RealSums& sums, float sample) {
    const double difference = static_cast<double>(sample) - static_cast<double>(sums.reference);
    sums.s += difference;
    sums.q += difference * difference;
    sums.peak = fmaxf(sums.peak, static_cast<float>(fabs(difference)));
}
/// Removes one sample; the sums must be recomputed if it is not finite.
SPECKLESCOPE_BOTH inline void remove_sample(RealSums& sums, float sample) {
    const double difference = static_cast<double>(sample) - static_cast<double>(sums.reference);
    sums.s -= difference;
    sums.q -= difference * difference;
}

SPECKLESCOPE_BOTH inline WindowSums window_sums(const RealSums& sums, double n) {
    const double spread = n * sums.q - sums.s * sums.s;
    return {n * static_cast<double>(sums.reference) + sums.s, spread < 0 ? 0.0 : spread};
}
SPECKLESCOPE_BOTH inline float contrast_of(const RealSums& sums, ContrastForm form, double c, double n) {
    const WindowSums window = window_sums(sums, n);
    const double value = contrast_value(form, c, window.s, window.d);
    return window.s <= 0 ? NAN : static_cast<float>(value); // for any spread
}

} // namespace specklescope
