// Spatio-temporal speckle contrast and flow: parameters, declaration and arithmetic shared by host and
// device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/border.hpp"
#include "stages/contrast_finish.hpp"
#include "stages/temporal/temporal.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// K = s/⟨I⟩ over (2·radius+1)² pixels of the last `frames` frames, sample standard deviation of all
/// (2·radius+1)²·frames samples (Qiu 2010). Uses fewer frames while it fills.
struct SpatiotemporalParams {
    static constexpr int kMaxRadius = 15;
    static constexpr int kMaxFrames = kMaxTemporalFrames;

    int radius = 2;
    int frames = 10;
    double exposure_ms = 10;
    ContrastOutput output = ContrastOutput::sfi;
    Border border = Border::replicate; ///< one of contrast_borders()
    ContrastExtras extras{};
};

/// Same as contrast_window_shape().
Shape spatiotemporal_shape(const SpatiotemporalParams& params, const Shape& input);
/// For windows of `held` frames.
ContrastScale spatiotemporal_scale(const SpatiotemporalParams& params, int held, const FrameInfo& info);

/// S and D = N·Σ(I − ⟨I⟩)² as Real, from exact sums of up to 961·500 samples of 16 bits, whose N·ΣI² exceeds
/// 64 bits. Shifted by the rounded mean m the sums are small: Q' = ΣI² − 2·m·ΣI + N·m² and S' = ΣI − N·m with
/// N·Q' ≥ 2·S'² approximately, so that D = N·Q' − S'² hardly cancels, and is 0 if all samples are equal.
/// `part` is 1/N.
template <class Real> struct WindowMoments { Real s, d; };
template <class Real> SPECKLESCOPE_BOTH inline WindowMoments<Real>
window_moments(std::uint64_t s, std::uint64_t q, std::uint32_t n, float part) {
    const auto signed_s = static_cast<std::int64_t>(s);
    const auto sum = static_cast<float>(signed_s);
    // Rounded approximately: the rest is exact for any mean. NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const auto mean = static_cast<std::int64_t>(static_cast<std::int32_t>(sum * part + 0.5F));
    const std::int64_t moved_s = signed_s - static_cast<std::int64_t>(n) * mean;
    const std::int64_t moved_q = static_cast<std::int64_t>(q) - mean * (signed_s + moved_s);
    const auto small = static_cast<Real>(moved_s);
    return {static_cast<Real>(signed_s), static_cast<Real>(n) * static_cast<Real>(moved_q) - small * small};
}

/// Adds one group of n samples to `count` equal groups, with sum and squared deviation M = Σ(I − ⟨I⟩)² (Chan,
/// Golub, LeVeque 1979); nothing is subtracted, so that NaN and ∞ stay within their windows.
struct RealGroup {
    double sum, deviation;
};
/// `part`: fraction of the squared difference that becomes deviation, merge_part(n, count).
SPECKLESCOPE_BOTH inline RealGroup merged(const RealGroup& groups, double count, const RealGroup& one,
                                          double part) {
    const double delta = groups.sum - count * one.sum;
    return {groups.sum + one.sum, groups.deviation + one.deviation + delta * delta * part};
}
SPECKLESCOPE_BOTH constexpr double merge_part(double n, double count) {
    return 1.0 / (n * count * (count + 1));
}

/// merge_part() for every number of groups in a window, and 1/n: divisions done once per frame.
struct MergeParts {
    static constexpr int kMost = 2 * SpatiotemporalParams::kMaxRadius + 1;
    double inverse;        ///< 1/held
    double columns[kMost]; ///< for rows: n = held
    double rows[kMost];    ///< for the columns of a window: n = held · (2·radius + 1)

    static MergeParts of(int held, int radius) {
        MergeParts parts{.inverse = 1.0 / held, .columns = {}, .rows = {}};
        const double window = 2 * radius + 1;
        for (int k = 1; k <= 2 * radius; ++k) {
            parts.columns[k] = merge_part(held, k);
            parts.rows[k] = merge_part(held * window, k);
        }
        return parts;
    }
};

StageType spatiotemporal_stage();
std::unique_ptr<DeviceStage> make_spatiotemporal_device(const Params& params);

} // namespace specklescope
