// Running mean of each pixel over time: parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/history.hpp"
#include "stages/host_device.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// Mean over the last frames, f32 whatever comes in: the mean of n frames has finer steps than they. 1 or 3
/// channels. window: all of the last `frames` count alike. exponential: the newest weighs 1/frames, every
/// older one (1 − 1/frames) times the one after it; weights are normalised while few frames are held, so that
/// the first result is the first frame.
struct AverageParams {
    enum class Kind : std::uint8_t { window, exponential };
    int frames = 10;
    Kind kind = Kind::window;
};

/// Bytes for so many samples (pixels × channels); `samples` as laid out in memory.
HistoryBytes average_bytes(const AverageParams& params, PixelType type, std::size_t samples);

/// How much the frame after `before` others moves the exponential mean: α/(1 − (1 − α)^(before+1)), α =
/// 1/frames.
double exponential_weight(int frames, std::uint64_t before);

/// Σ of f32 samples that come and go, in twice the precision of float64 (Knuth's two-sum): a sample that
/// leaves takes with it what it brought. NaN while a sample of the window is not finite; must be made anew
/// when such a sample leaves.
struct LongSum {
    double high, low;

    SPECKLESCOPE_BOTH void add(double value) {
        const double sum = high + value;
        const double part = sum - high;
        low += (high - (sum - part)) + (value - part);
        high = sum;
    }
    SPECKLESCOPE_BOTH double value() const { return high + low; }
};

/// The sum of `held` samples; at(k) is the k-th newest.
template <class At> SPECKLESCOPE_BOTH inline LongSum long_sum(int held, const At& at) {
    LongSum sum{0, 0};
    for (int k = 0; k < held; ++k) {
        const double sample = at(k);
        sum.add(sample);
        if (!std::isfinite(sample)) {
            sum.high = sum.low = sample - sample; // NaN
            break;
        }
    }
    return sum;
}

/// A sample that is not finite is left out of the exponential mean; until one is finite it is NaN.
SPECKLESCOPE_BOTH inline double exponential_mean(double mean, double sample, double weight) {
    if (!std::isfinite(sample))
        return mean;
    return std::isfinite(mean) ? mean + (sample - mean) * weight : sample;
}

StageType average_stage();
std::unique_ptr<DeviceStage> make_average_device(const Params& params);

} // namespace specklescope
